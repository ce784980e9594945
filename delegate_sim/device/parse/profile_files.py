"""Read the files that benchmark_model writes besides its log: op profiles and model runtime info, as protobuf or JSON.

The content of a file shows its type and encoding. Sources: ``profiling_info.proto``, ``model_runtime_info.proto``
(``tflite/profiling/proto``) and ``benchmark_result.proto`` (``tflite/tools/benchmark/proto``).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from ...foundation.work_budget import spend_steps
from ...llm.sections import ProtobufError, fields_of, integers_of
from .log_contents import DeviceLog, LogError, TimesOnlyError
from .operator_tables import LONGEST_MS, Row, RowTime, RunOrder, row_of, times_of_result
from .tables import FORMS, rows_of

_TIMES_ONLY = "is a result file of a benchmark, which has only times and memory, not delegates or operators"

_PROFILE, _RUNTIME, _RESULT = "BenchmarkProfilingData", "ModelRuntimeDetails", "BenchmarkResult"
MESSAGES = {row["message"]: [field.split(" ") for field in row["fields"].split(", ")] for row in rows_of("messages")}
"""The name, number and type of each field of the messages. A star marks a repeated field."""
_LARGEST = 1 << 63
_STEPS_OF_A_PLACE = 5
"""Number of steps for each number of an execution plan, from which a row is made. In the file, it may take two bytes."""
_BEGINNINGS = ("init_profile {", "runtime_profile {", "subgraphs {", "subgraph_profiles {")


def read_binary(data: bytes, path: str) -> DeviceLog:
    """Read a protobuf file of benchmark_model. Raises LogError for another kind of file."""
    parsed = []
    for name in (_PROFILE, _RUNTIME, _RESULT):
        with suppress(ProtobufError, UnicodeDecodeError):
            parsed.append(_parsed(name, data))
    # Data can be parsed as the wrong message type. More fields are then unknown.
    for content, _ in sorted(parsed, key=lambda message: message[1]):
        log = _log(content, path)
        if log is not None and log.run_orders:
            return log
    raise LogError(f"{path}: is not a protobuf file of benchmark_model; give a text, CSV or protobuf file")


def read_json(text: str, path: str) -> DeviceLog | None:
    """Read JSON with the fields of the protobuf messages. Return None if the text is not JSON, or not from benchmark_model."""
    try:
        content = _snake(json.loads(text))
    except (ValueError, RecursionError):
        return None
    return _log(content, path) if isinstance(content, dict) else None


def read_dump(lines: Iterable[str], path: str) -> DeviceLog | None:
    """Read a message in protobuf's text format with one field per line. Return None if it is not from benchmark_model."""
    content = _dumped(lines)
    return _log(content, path) if content else None


def is_of_dump(line: str, has_begun: bool) -> bool:
    """Return whether a line begins or continues a message in protobuf's text format."""
    text = line.strip()
    return text == "}" or FORMS["field"].fullmatch(text) is not None if has_begun else text in _BEGINNINGS


def _log(content: Mapping[str, Any], path: str) -> DeviceLog | None:
    if "subgraphs" in content:
        return _of_runtime(content)
    if "runtime_profile" in content or "subgraph_profiles" in content:
        inner = content.get("runtime_profile", content)
        content = inner if isinstance(inner, dict) else {}
        profiles = _list(content, "subgraph_profiles")
        orders = {_number(subgraph, "subgraph_index"): RunOrder(_rows(subgraph), True) for subgraph in profiles}
        inner_rows = [row for delegate in _list(content, "delegate_profiles") for row in _rows(delegate)]
        return DeviceLog(run_orders=orders, is_benchmark=True, inner_rows=tuple(inner_rows))
    if "init_profile" in content:
        raise LogError(f"{path}: has only a profile of the initialization, but none of the inference")
    if "latency_metrics" in content or "misc_metrics" in content or isinstance(content.get("latency"), dict):
        raise TimesOnlyError(f"{path}: {_TIMES_ONLY}", times_of_result(content))
    return None


def _rows(content: Mapping[str, Any]) -> tuple[Row, ...]:
    profiles = sorted(_list(content, "per_op_profiles"), key=lambda profile: _number(profile, "run_order"))
    rows = [row_of(_text(profile, "node_type"), _text(profile, "name"), _time(profile)) for profile in profiles]
    return tuple([row for row in rows if row is not None])


def _text(fields: Mapping[str, Any], key: str) -> str:
    """Return a text. Any other value is none: a list would be written out for each place that names it."""
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _time(profile: Mapping[str, Any]) -> RowTime | None:
    time, memory = (profile.get(name) for name in ("inference_microseconds", "mem_kb"))
    if not isinstance(time, dict) or not time:
        return None
    count = _number(time, "count")
    average = _number(time, "sum") / count if count and "sum" in time else _number(time, "avg")
    memory_kb = _number(memory, "last") if isinstance(memory, dict) else 0
    if not 0 <= average <= LONGEST_MS * 1000:
        return None
    return RowTime(_number(time, "first") / 1000, average / 1000, None, float(memory_kb), _number(profile, "times_called"))


def _of_runtime(content: Mapping[str, Any]) -> DeviceLog:
    orders: dict[int, RunOrder] = {}
    for place, subgraph in enumerate(_list(content, "subgraphs")):
        nodes = {_number(node, "id"): node for node in _list(subgraph, "nodes")}
        values = _values(subgraph, "execution_plan")
        spend_steps(_STEPS_OF_A_PLACE * len(values), "reading the execution plan of a profile")
        plan = [number for value in values if (number := _integer(value)) is not None]
        row_of_node = {number: _planned_row(nodes.get(number, {}), number) for number in set(plan)}
        rows = [row_of_node[number] for number in plan]
        if rows:
            orders[_number(subgraph, "subgraph_id") if "subgraph_id" in subgraph else place] = RunOrder(tuple(rows), True)
    return DeviceLog(run_orders=orders, is_benchmark=True)


def _planned_row(node: Mapping[str, Any], number: int) -> Row:
    details, profile = node.get("delegate_node_details"), node.get("op_profile_data")
    name = _text(details, "delegate_name") if isinstance(details, dict) else ""
    return Row(name or _text(node, "name"), "", number, _time(profile) if isinstance(profile, dict) else None)


def _list(content: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [value for value in _values(content, key) if isinstance(value, dict)]


def _values(content: Mapping[str, Any], key: str) -> list[Any]:
    values = content.get(key, [])
    return values if isinstance(values, list) else [values]


def _number(content: Mapping[str, Any], key: str) -> int:
    """Return an integer field. JSON writes 64-bit integers as strings and leaves out zeros."""
    return _integer(content.get(key, 0)) or 0


def _integer(value: Any) -> int | None:
    try:
        return max(min(int(value), _LARGEST), -_LARGEST)
    except (TypeError, ValueError, OverflowError):
        return None


def _snake(content: Any) -> Any:
    if isinstance(content, dict):
        return {
            FORMS["camel"].sub(lambda letter: f"_{letter[0].lower()}", str(key)): _snake(value) for key, value in content.items()
        }
    return [_snake(value) for value in content] if isinstance(content, list) else content


_LISTS = frozenset(name for fields in MESSAGES.values() for name, _, kind in fields if kind.startswith("*"))
_DEEPEST = 16


def _dumped(lines: Iterable[str]) -> dict[str, Any]:
    stack: list[dict[str, Any]] = [{}]
    for line in lines:
        text = line.strip()
        match = FORMS["field"].fullmatch(text)
        if text == "}" and len(stack) > 1:
            stack.pop()
        elif match is not None and match["open"] and len(stack) < _DEEPEST:
            child: dict[str, Any] = {}
            _put(stack[-1], match["name"], child)
            stack.append(child)
        elif match is not None and match["value"] is not None:
            value = match["value"].strip()
            _put(stack[-1], match["name"], _unquoted(value) if value.startswith('"') else value)
    return stack[0]


def _put(content: dict[str, Any], name: str, value: Any) -> None:
    if name in _LISTS:
        content.setdefault(name, []).append(value)
    else:
        content[name] = value


def _unquoted(value: str) -> str:
    try:
        return str(json.loads(value))
    except ValueError:
        return value.strip('"')


def _parsed(name: str, data: bytes) -> tuple[dict[str, Any], int]:
    """Return the fields of a message, and the number of its unknown fields. Raises ProtobufError, and UnicodeDecodeError."""
    content: dict[str, Any] = {}
    unknown, known = 0, {int(number): (field, kind) for field, number, kind in MESSAGES[name]}
    for number, value in fields_of(data):
        field, kind = known.get(number, ("", ""))
        plain, values = kind.removeprefix("*"), list[Any]()
        if plain in MESSAGES and isinstance(value, bytes):
            inner, more = _parsed(plain, value)
            values, unknown = [inner], unknown + more
        elif plain == "text" and isinstance(value, bytes):
            values = [value.decode("utf-8")]
        elif plain == "number" and (isinstance(value, int) or kind != plain):
            values = integers_of(value)
        elif plain == "real" and isinstance(value, int) and value < 1 << 32:
            values = [*struct.unpack("<f", value.to_bytes(4, "little"))]
        unknown += not values
        if kind != plain:
            content.setdefault(field, []).extend(values)
        elif values:
            content[field] = values[-1]
    return content, unknown
