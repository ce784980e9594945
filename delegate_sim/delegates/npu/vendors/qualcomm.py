"""Qualcomm's compiler plugin (``litert/vendors/qualcomm``).

The plugin asks a closed-source library about every node. Therefore, the plugin can only be run live.
"""

from __future__ import annotations

from ...base import Delegate
from ...traits import PluginTraits
from ..plugin import COMMON_OPTIONS, soc_option

SOCS = (
    *("SM8850", "SM8750", "SM8650", "SM8635", "SM8550", "SM8475", "SM8450", "SM8350P", "SM8350", "SM8250", "SM8150", "SM7675"),
    *(
        "SM7550",
        "SM7475",
        "SM7450",
        "SM7435",
        "SM7425",
        "SM7350",
        "SM7325",
        "SM7315",
        "SM7250",
        "SM7225",
        "SM7150",
        "SM7125",
        "SM6450",
    ),
    *("SM6375", "SM6350", "SM6225", "SM6150", "SM6125", "SM4350", "SDM865", "SDM845"),
    *("QCM2290", "QCM6490", "QCM6690", "QCM8550LA", "QCM8550LE", "QCS2290", "QCS6690", "QCS7230LA", "QCS7230LE", "QCS8275"),
    *("QCS8300", "QCS8625", "QCS9075", "QCS9100", "QRB5165LE", "QRB5165U", "SA8255", "SA8295", "SAR2130P", "SAR2230P"),
    *("SC8380XP", "SSG2115P", "SSG2125P", "SW6100", "SXR1230P", "SXR2230P", "SXR2250P", "SXR2330P"),
)
"""The SoCs that LiteRT lists: phones, and then other devices (``litert/vendors/qualcomm/supported_soc.csv``)."""
_SHOWN = 6


class QualcommPlugin(Delegate):
    """The data for running Qualcomm's plugin live. The plugin's decisions cannot be simulated."""

    name = "npu-qualcomm"
    kernel_name = "DISPATCH_OP"
    provider_name = "NPU"
    is_plugin = True
    is_live_only = True
    live = PluginTraits(
        "Qualcomm",
        "qualcomm",
        (("ai_edge_litert_sdk_qualcomm", "data/lib/x86_64-linux-clang"), ("onnxruntime_qnn", "")),
        "Qualcomm's libraries: pip install onnxruntime-qnn for ai-edge-litert 2.2; for 2.3, also libQnnLpai.so of QAIRT: "
        "pip install ai-edge-litert-sdk-qualcomm, or set LD_LIBRARY_PATH",
        opened=("libQnnSystem.so", "libQnnHtp.so", "libQnnIr.so", "libQnnSaver.so"),
        compiled_line="Graph composed",
        is_closed=True,
    )
    options = (soc_option("SM8750", SOCS[:_SHOWN], f"LiteRT lists {len(SOCS)} SoCs"), *COMMON_OPTIONS)


DELEGATE = QualcommPlugin()
