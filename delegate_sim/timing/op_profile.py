"""Read a device's op profile: the times of nodes and delegate kernels."""

from __future__ import annotations

from dataclasses import dataclass

from ..device.parse.log import read_runs_file
from ..device.parse.log_contents import DeviceLog, LogError, TimesOnlyError, has_times
from ..foundation.printable import printable


@dataclass(frozen=True, slots=True)
class OpProfile:
    """The log of the profiled run. ``notes`` describes what is missing in the file."""

    path: str
    log: DeviceLog
    notes: tuple[str, ...] = ()


def read_op_profile(path: str) -> OpProfile:
    """Read the last profile in a file of any format that ``reconcile`` reads. Raises LogError if a file has no times."""
    try:
        runs = read_runs_file(path)
    except TimesOnlyError as error:
        return OpProfile(path, DeviceLog(times=error.times), ("the file has only the times of the whole run, not of nodes",))
    profiled = [log for log in runs if has_times(log)]
    if not profiled:
        raise LogError(
            printable(f"{path}: has no table with the times of nodes; run benchmark_model with --enable_op_profiling=true")
        )
    count = len(profiled)
    return OpProfile(
        path, profiled[-1], (f"the file has the profiles of {count} runs; the last one is used",) if count > 1 else ()
    )
