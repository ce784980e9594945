"""Qualcomm's compiler plugin (``litert/vendors/qualcomm``).

The plugin asks a closed-source library about every node. Therefore, the plugin can only be run live.
"""

from __future__ import annotations

from ...base import Delegate
from ...traits import PluginTraits
from ..plugin import COMMON_OPTIONS, soc_option
from ..soc_names import SOCS

_SOCS = tuple(SOCS["qualcomm"])
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
    options = (soc_option("SM8750", _SOCS[:_SHOWN], f"LiteRT lists {len(_SOCS)} SoCs"), *COMMON_OPTIONS)


DELEGATE = QualcommPlugin()
