"""The result of comparing a device log with a simulation, as plain data and as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from ...foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Table, attributes, within
from ...model.model import Model
from ...results.report.display import Shown, Times
from ...results.report.rule_set import rule_set_version
from ...results.report.run_columns import MODEL, TIMES
from ...results.report.tables import model_name
from ...runtime.interpreter import Run, option_values
from ..parse.applied_target import DeviceSetting
from ..parse.error_meanings import ExplainedError
from ..parse.log_contents import DeviceLog
from .differences import ListedRefusal, RefusalDifference
from .observed_delegation import Tally
from .trial_simulations import Account, CpuNode

REPRODUCED, EXPLAINED, UNEXPLAINED, NOT_COMPARED = "reproduced", "explained", "unexplained", "not-compared"
"""Statuses of a comparison. ``NOT_COMPARED`` means that the log does not show the delegation."""


LINES = Column(
    "lines",
    OBJECT,
    source="log",
    parts=(Column("count", INTEGER, source="line_count"), Column("unused", INTEGER, source="unused_count")),
)
"""The numbers of lines of a result's log."""
_SETTING = (
    *(Column("delegate", source="delegate.name"), Column("rule_set", source=lambda own: rule_set_version(own.delegate))),
    Column("runtimes", LIST, source=lambda own: [release.name for release in own.releases]),
    Column("may_be_older", YES_OR_NO),
    Column("options", OBJECT, source=lambda own: option_values(own.options)),
    *(Column("options_known", LIST, source=lambda own: sorted(own.known)), Column("defaults")),
)


@dataclass(frozen=True, repr=False)
class Reconciliation(Shown):
    """The result of ``reconcile``. ``to_dict`` returns the result as plain data with a stable schema."""

    document = "reconcile"
    columns = (
        *(MODEL, Column("status"), *within("setting", _SETTING), *attributes("device", "simulated", type=OBJECT)),
        *(
            Column("differences", LIST),
            Column("failure", source=lambda reconciliation: reconciliation.failure or None),
            Column("evidence"),
            Column("explanation", OBJECT, source="account", parts=Account.columns),
        ),
        *(Column("nodes", LIST), Column("operators", LIST, source="refusals")),
        *(
            Column("listed_refusals", LIST, parts=ListedRefusal.columns),
            Column("errors", LIST),
            LINES,
            *attributes("feature_levels", "notes", type=LIST),
            Column("learnt", OBJECT, source="learned"),
            TIMES,
        ),
    )

    model: Model
    log: DeviceLog
    setting: DeviceSetting
    status: str
    device: Tally
    simulated: Tally
    differences: tuple[str, ...]
    """The differences between the log and the first simulation, which has no assumptions."""
    account: Account | None
    """The assumptions that explain the differences."""
    nodes: tuple[CpuNode, ...]
    refusals: tuple[RefusalDifference, ...]
    listed_refusals: tuple[ListedRefusal, ...]
    """The operators that the device or the simulation refuses. Empty if the log has no list of refused operators."""
    errors: tuple[ExplainedError, ...]
    """The errors in the log, with their meanings."""
    feature_levels: tuple[int, ...]
    """Feature levels at which a simulation without rejections by the driver reproduces the log."""
    evidence: str
    """The kind of log lines that show the CPU nodes: ``run-order``, ``node-types``, ``partial`` or ``lines``."""
    notes: tuple[str, ...]
    doubts: tuple[str, ...]
    """The notes that say why the log may not be from this model."""
    run: Run
    """The simulation that matches the log best."""
    is_foreign: bool = False
    """True if every line about replaced nodes belongs to another delegate."""
    learned: Mapping[str, Any] | None = None
    """The profile that was learned from the log and written, as plain data. None if no profile was written."""
    times: tuple[Times, ...] = ()
    """The measured times in the log and in op profiles."""
    failure: str = ""
    """The line that says why the model did not run on the device, or why the delegate was not applied, or ""."""

    def _line(self) -> str:
        why = self.account.text if self.account is not None else "; ".join(self.differences)
        target = f"{self.setting.delegate.name} on {self.run.release}"
        return f"{model_name(self.model)}, {target}: {self.status}{f', {why}' if why else ''}"

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return {
            "nodes": lambda: Table(CpuNode._fields, [tuple(node) for node in self.nodes]),
            "tally": lambda: _tally_table(self.device, self.simulated),
        }

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return {"tally": ("side", "delegated", "partitions", "kernels", "on_cpu"), "nodes": CpuNode._fields}


def _tally_table(device: Tally, simulated: Tally) -> Table:
    columns = tuple([field.name for field in fields(Tally) if field.name != "lines"])
    sides = (("device", device), ("simulated", simulated))
    return Table(("side", *columns), [(side, *[getattr(tally, name) for name in columns]) for side, tally in sides])
