"""Read from LiteRT's interpreter which nodes its default delegate takes.

LiteRT's Python API does not show execution plans, but every delegate receives them. Therefore, this module applies a second
delegate after the default delegate. The second delegate claims no nodes, and records the plans.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter

_OK = 0
_ALLOW_DYNAMIC_TENSORS = 1
_DELEGATE_CODE = 51
"""The builtin code of a delegate kernel (``kTfLiteBuiltinDelegate``)."""


class _IntArray(ctypes.Structure):
    _fields_ = (("size", ctypes.c_int), ("data", ctypes.c_int * 0))


_IntArrayPointer = ctypes.POINTER(_IntArray)


class _DelegateParams(ctypes.Structure):
    _fields_ = (
        ("delegate", ctypes.c_void_p),
        ("nodes_to_replace", _IntArrayPointer),
        ("input_tensors", _IntArrayPointer),
        ("output_tensors", _IntArrayPointer),
    )


class _PlannedNode(ctypes.Structure):
    _fields_ = (
        ("inputs", _IntArrayPointer),
        ("outputs", _IntArrayPointer),
        ("intermediates", _IntArrayPointer),
        ("temporaries", _IntArrayPointer),
        ("user_data", ctypes.c_void_p),
        ("builtin_data", ctypes.POINTER(_DelegateParams)),
        ("custom_initial_data", ctypes.c_void_p),
        ("custom_initial_data_size", ctypes.c_int),
        ("delegate", ctypes.c_void_p),
    )


class _Registration(ctypes.Structure):
    _fields_ = (
        ("init", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
        ("prepare", ctypes.c_void_p),
        ("invoke", ctypes.c_void_p),
        ("profiling_string", ctypes.c_void_p),
        ("builtin_code", ctypes.c_int32),
        ("custom_name", ctypes.c_char_p),
    )


_GetExecutionPlan = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(_IntArrayPointer))
_GetNode = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int,
    ctypes.POINTER(ctypes.POINTER(_PlannedNode)),
    ctypes.POINTER(ctypes.POINTER(_Registration)),
)


class _Context(ctypes.Structure):
    _fields_ = (
        ("tensors_size", ctypes.c_size_t),
        ("get_execution_plan", _GetExecutionPlan),
        ("tensors", ctypes.c_void_p),
        ("implementation", ctypes.c_void_p),
        ("resize_tensor", ctypes.c_void_p),
        ("report_error", ctypes.c_void_p),
        ("add_tensors", ctypes.c_void_p),
        ("get_node_and_registration", _GetNode),
    )


_Prepare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Context), ctypes.c_void_p)


class _Delegate(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("prepare", _Prepare),
        ("copy_from_buffer_handle", ctypes.c_void_p),
        ("copy_to_buffer_handle", ctypes.c_void_p),
        ("free_buffer_handle", ctypes.c_void_p),
        ("flag_bits", ctypes.c_int64),
        ("opaque_delegate_builder", ctypes.c_void_p),
    )


@dataclass(frozen=True, slots=True)
class Partition:
    """A delegate kernel, and the nodes that it replaces."""

    kernel: str
    nodes: tuple[int, ...]


NodePlan = tuple[int | Partition, ...]
"""The plan of a subgraph, in order: nodes of the model, and delegate kernels."""


def plans(model: bytes) -> list[NodePlan]:
    """Return the execution plan of each subgraph after the runtime applied its default delegate.

    Raise ValueError or RuntimeError if the runtime cannot load or prepare the model.
    """
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    return _current_plans(interpreter)


def _current_plans(interpreter: Interpreter) -> list[NodePlan]:
    plans: list[NodePlan] = []

    def prepare(context: Any, _delegate: int) -> int:
        plans.append(_plan(context))
        return _OK

    observer = _Delegate(prepare=_Prepare(prepare), flag_bits=_ALLOW_DYNAMIC_TENSORS)
    interpreter._delegates.append(observer)  # The observer must live as long as the interpreter.
    interpreter._interpreter.ModifyGraphWithDelegate(ctypes.addressof(observer))
    return plans


def _plan(context: Any) -> NodePlan:
    indices = _IntArrayPointer()
    assert context.contents.get_execution_plan(context, ctypes.byref(indices)) == _OK
    return tuple(_step(context, index) for index in _numbers(indices))


def _step(context: Any, index: int) -> int | Partition:
    node, registration = ctypes.POINTER(_PlannedNode)(), ctypes.POINTER(_Registration)()
    assert context.contents.get_node_and_registration(context, index, ctypes.byref(node), ctypes.byref(registration)) == _OK
    if registration.contents.builtin_code != _DELEGATE_CODE:
        return index
    replaced = node.contents.builtin_data.contents.nodes_to_replace
    return Partition(registration.contents.custom_name.decode(), _numbers(replaced))


def _numbers(array: Any) -> tuple[int, ...]:
    start = ctypes.addressof(array.contents) + _IntArray.data.offset
    return tuple((ctypes.c_int * array.contents.size).from_address(start))


def _main(source: str, result: str, then: str = "") -> None:
    content: dict[str, Any] = {"error": "", "plans": []}
    model = Path(source).read_bytes()
    try:
        for plan in plans(model):
            content["plans"].append([list(step.nodes) if isinstance(step, Partition) else step for step in plan])
    except (ValueError, RuntimeError) as error:
        content["error"] = str(error)
    Path(result).write_text(json.dumps(content), encoding="utf-8")
    if then == "run" and not content["error"]:
        content |= _run(model)
        Path(result).write_text(json.dumps(content), encoding="utf-8")


def _run(model: bytes) -> dict[str, Any]:
    """Build the kernels again, and run the first subgraph once with zeros. Return the times in seconds, and an error."""
    start = time.perf_counter()
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    built = time.perf_counter() - start
    try:
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], np.zeros_like(interpreter.get_tensor(detail["index"])))
        start = time.perf_counter()
        interpreter.invoke()
    except (ValueError, RuntimeError) as error:
        return {"built": built, "run_error": str(error)}
    return {"built": built, "ran": time.perf_counter() - start}


if __name__ == "__main__":
    _main(*sys.argv[1:])
