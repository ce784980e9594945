"""Logs of devices."""

from __future__ import annotations

from delegate_sim.device.parse.known_lines import SourceStatements
from delegate_sim.device.parse.log import read_log
from delegate_sim.device.parse.log_summary import summary_of

SOURCES = SourceStatements()
"""The statements of upstream code, loaded once for all tests of a process."""

SYNAP = """\
INFO: STARTING!
INFO: Tensorflow Version : 2.15.0
INFO: Log parameter values verbosely: [0]
INFO: Graph: [/data/local/tmp/model.tflite]
INFO: Use NNAPI: [1]
INFO: NNAPI accelerator name: [synap-npu]
INFO: NNAPI accelerators available: [synap-npu,nnapi-reference]
INFO: Loaded model /data/local/tmp/model.tflite
INFO: Initialized TensorFlow Lite runtime.
INFO: Created TensorFlow Lite delegate for NNAPI.
INFO: NNAPI delegate created.
WARNING: NNAPI SL driver did not implement SL_ANeuralNetworksDiagnostic_registerCallbacks!
VERBOSE: Replacing 31 out of 31 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for the whole graph.
INFO: Explicitly applied NNAPI delegate, and the model graph will be completely executed by the delegate.
INFO: The input model file size (MB): 0.497264
INFO: Initialized session in 66.002ms.
"""

REPLACING = (
    "INFO: Replacing 31 out of 31 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for the whole graph.\n"
)


def summary(text):
    """The summary of the last run in a log."""
    return summary_of(read_log(text, SOURCES))
