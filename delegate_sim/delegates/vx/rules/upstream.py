"""The repositories that the rules were read from: VeriSilicon's, and NXP's at two releases of its board support package."""

from __future__ import annotations

from ....rules.source import Repository

VX_DELEGATE = Repository("VeriSilicon/tflite-vx-delegate", "3f4759e07221e6b90bd82989b65febdaaf9ec0ea")
NXP_VX_6_6_3 = Repository("nxp-imx/tflite-vx-delegate-imx", "44aab8a50b37d55399771a2cad3fe017d3b5cdd3")
"""NXP's repository at lf-6.6.3_1.0.0."""
NXP_VX_5_15_71 = Repository("nxp-imx/tflite-vx-delegate-imx", "84edae24c7e921f7e322bd796b9fd3c064b10522")
"""NXP's repository at lf-5.15.71_2.2.0."""
