"""Places in the delegate's source that call NNAPI, and their error messages.

Source: ``RETURN_TFLITE_ERROR_IF_NN_ERROR`` and ``NnApiErrorDescription`` (``delegates/nnapi/nnapi_delegate.cc``). Line numbers
refer to the newest sources. Other releases have other line numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ....foundation.printable import printable
from ....model.model import Tensor
from ....nnapi_runtime.refusal import Call
from ....nnapi_runtime.types import ResultCode
from ....refusal import Refusal


@dataclass(frozen=True, slots=True)
class Site:
    """One place in the delegate's source: line number, text about the call, and whether the error message names the tensor."""

    line: int
    doing: str
    names_tensor: bool = False


OPERATION = Site(1144, "adding operation")
DEQUANTIZED = Site(1171, "adding operand")
SCALAR_TENSOR = Site(1547, "adding operand", names_tensor=True)
NEW_CONSTANT = Site(1608, "adding operand")
NEW_CONSTANT_VALUE = Site(1615, "setting new operand value")
SCALAR = Site(1700, "adding operand")
SCALAR_VALUE = Site(1705, "setting new operand value")
VECTOR = Site(1724, "adding operand")
VECTOR_VALUE = Site(1730, "settings new operand value")
RESULT = Site(1766, "adding operand")
TENSOR = Site(1932, "adding operand", names_tensor=True)
TENSOR_CHANNELS = Site(1938, "setting new operand per channel quantization params", names_tensor=True)
TENSOR_CONVERTED = Site(1972, "setting new operand value", names_tensor=True)
TENSOR_WIDENED = Site(2000, "setting new operand value", names_tensor=True)
TENSOR_VALUE = Site(2035, "setting new operand value", names_tensor=True)
COMPILATION = Site(4783, "completing NNAPI compilation")
BOUNDARY = Site(6345, "identifying model inputs and outputs")
FINISH = Site(6362, "finalizing the model")

_NAMES: Mapping[int, str] = {
    ResultCode.UNEXPECTED_NULL: "ANEURALNETWORKS_UNEXPECTED_NULL",
    ResultCode.BAD_DATA: "ANEURALNETWORKS_BAD_DATA",
    ResultCode.OP_FAILED: "ANEURALNETWORKS_OP_FAILED",
}


def refused_at(site: Site, refusal: Refusal, node: int, tensor: Tensor | None = None, operation: str = "") -> Refusal:
    """Return a refusal by the runtime with the node that was lowered, and the line that TFLite prints for the rejected call.

    If the call adds an NNAPI operation, ``operation`` is the operation's name. Otherwise, ``operation`` is empty.
    """
    name = f" for tensor '{printable(tensor.name)}'" if site.names_tensor and tensor is not None else ""
    line = f"NN API returned error {_NAMES[refusal.result]} at line {site.line} while {site.doing}{name}."
    index = None if tensor is None else tensor.index
    call = Call(refusal.call).short_name
    return replace(refusal, call=call, node=node, tensor=index, operation=operation, log_lines=(line,))
