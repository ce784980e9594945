"""Parse the times of a whole run: initialization, warm-up and inferences.

Sources of the formats: ``BenchmarkLoggingListener`` (``tools/benchmark/benchmark_model.cc``), ``util/stats_calculator.cc`` and
``litert/python/tools/benchmark_litert_model.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ....foundation.columns import Declared


@dataclass(frozen=True, slots=True)
class RunTimes(Declared):
    """The times of a run in milliseconds, and the number of measured inferences. An unknown value is None."""

    init_ms: float | None = None
    first_ms: float | None = None
    """The time of the first inference."""
    warmup_ms: float | None = None
    """The average time of an inference in the warm-up."""
    inference_ms: float | None = None
    """The average time of a measured inference."""
    profiled_ms: float | None = None
    """The average time of all profiled rows in one inference, as the profiler adds them up."""
    runs: int | None = None

    @property
    def is_empty(self) -> bool:
        """True if no time is known."""
        return self == NO_TIMES


NO_TIMES = RunTimes()

LONGEST_MS = 1e9
"""Largest plausible time, more than eleven days. Longer times are ignored."""
_REAL = r"(?:\d{1,15}(?:\.\d{1,9})?(?:e[+-]?\d{1,2})?)"
_MICROSECONDS = re.compile(
    rf"(?P<name>Init|First inference|Warmup(?: \(avg\))?|Inference(?: \(avg\))?|no stats): (?P<value>{_REAL})"
)
_FIELDS = {"init": "init_ms", "first inference": "first_ms", "warmup": "warmup_ms", "inference": "inference_ms"}
_PROFILED = re.compile(rf"Timings \(microseconds\): count=(?P<count>\d{{1,9}}).{{0,400}} avg=(?P<avg>{_REAL})")
_MILLISECONDS = re.compile(
    rf"(?P<name>Model initialization|Warmup \((?:first|avg)\)|Inference \(avg\)): +(?P<value>{_REAL}) ms"
    r"(?: \((?P<runs>\d{1,9}) runs\))?"
)
_OF_LITERT = {
    "model initialization": "init_ms",
    "warmup (first)": "first_ms",
    "warmup (avg)": "warmup_ms",
    "inference (avg)": "inference_ms",
}


_SESSION = re.compile(rf"Initialized session in (?P<ms>{_REAL})ms")
_ROUND = re.compile(r"\s*count=\d{1,9} ")
"""Matches the beginning of the line of a warm-up, or of the inferences after it."""
_AVERAGE = re.compile(rf"\b(?:avg|curr)=(?P<us>{_REAL})")


def times_in(text: str, known: RunTimes = NO_TIMES) -> dict[str, Any]:
    """Return the fields of ``RunTimes`` that a line gives. ``known`` has the times in the lines before it."""
    if "Initialized session" in text and (match := _SESSION.search(text)) is not None:
        return {"init_ms": float(match["ms"])}
    if "count=" in text and _ROUND.match(text) is not None and (values := _AVERAGE.findall(text)):
        # The average comes after the last time, and is missing if there is only one.
        return {"warmup_ms" if known.warmup_ms is None else "inference_ms": float(values[-1]) / 1000}
    if "nference timings in us:" in text:
        return {
            _FIELDS[match["name"].lower().removesuffix(" (avg)").replace("no stats", "inference")]: float(match["value"]) / 1000
            for match in _MICROSECONDS.finditer(text)
        }
    if "Timings (microseconds)" in text and (match := _PROFILED.search(text)) is not None:
        # A table of a delegate's internal operators has this line too, but later in the log.
        return {"profiled_ms": float(match["avg"]) / 1000, "runs": int(match["count"])}
    if (match := _MILLISECONDS.match(text.strip())) is not None:
        name = match["name"].lower()
        runs = {"runs": int(match["runs"])} if match["runs"] and name.startswith("inference") else {}
        return {_OF_LITERT[name]: float(match["value"]), **runs}
    return {}


LATENCIES = (
    "avg_ms", "min_ms", "max_ms", "stddev_ms", "median_ms", "p5_ms", "p95_ms", "init_ms", "first_inference_ms",
    "average_warm_up_ms",
)  # fmt: skip
"""The fields of ``LatencyMetrics`` (``tools/benchmark/proto/benchmark_result.proto``), in the order of their numbers."""


def times_of_result(content: Mapping[str, Any]) -> RunTimes:
    """Return the times in a result file: ``--result_json`` of litert-benchmark, or ``--result_file_path`` of benchmark_model."""
    latency, misc = (content.get(name) for name in ("latency", "misc_metrics"))
    if isinstance(latency, dict):
        names = ("init_ms", "warmup_first_ms", "warmup_avg_ms", "avg_ms")
        return _times(latency, names, latency.get("num_runs"))
    metrics = content.get("latency_metrics")
    if not isinstance(metrics, dict):
        return NO_TIMES
    names = ("init_ms", "first_inference_ms", "average_warm_up_ms", "avg_ms")
    return _times(metrics, names, misc.get("num_runs") if isinstance(misc, dict) else None)


def _times(content: Mapping[str, Any], names: Sequence[str], runs: object) -> RunTimes:
    init, first, warmup, inference = [_number(content.get(name)) for name in names]
    count = _number(runs)
    return RunTimes(init, first, warmup, inference, runs=None if count is None else int(count))


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value <= LONGEST_MS else None
