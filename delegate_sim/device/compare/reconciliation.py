"""The result of comparing a device log with a simulation, as plain data and as tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...foundation.documents import head
from ...model.model import Model
from ...results.report.display import Shown, Table
from ...results.report.rule_set import rule_set_version
from ...results.report.tables import model_name
from ...runtime.interpreter import Run, option_values
from ..parse.applied_target import DeviceSetting
from ..parse.error_meanings import ExplainedError
from ..parse.log_contents import DeviceLog
from .cpu_reasons import CpuNode
from .differences import ListedRefusal, RefusalDifference
from .outcome_counts import Tally
from .trial_simulations import Account

REPRODUCED, EXPLAINED, UNEXPLAINED, NOT_COMPARED = "reproduced", "explained", "unexplained", "not-compared"
"""Statuses of a comparison. ``NOT_COMPARED`` means that the log does not show the delegation."""


@dataclass(frozen=True, repr=False)
class Reconciliation(Shown):
    """The result of ``reconcile``. ``to_dict`` returns the result as plain data with a stable schema."""

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
    failure: str = ""
    """The line that says why the model did not run on the device, or why the delegate was not applied, or ""."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data (schema ``delegate-sim/reconcile/1``)."""
        setting = self.setting
        return {
            **head("reconcile"),
            "model": {"path": self.model.path, "sha256": self.model.sha256},
            "status": self.status,
            "delegate": setting.delegate.name,
            "rule_set": rule_set_version(setting.delegate),
            "runtimes": [str(release) for release in setting.releases],
            "may_be_older": setting.may_be_older,
            "options": option_values(setting.options),
            "options_known": sorted(setting.known),
            "defaults": setting.defaults,
            "device": tally_entry(self.device),
            "simulated": tally_entry(self.simulated),
            "differences": list(self.differences),
            "failure": self.failure or None,
            "evidence": self.evidence,
            "explanation": None if self.account is None else _account_entry(self.account),
            "nodes": [node._asdict() for node in self.nodes],
            "operators": [asdict(refusal) for refusal in self.refusals],
            "listed_refusals": [listed_entry(refusal) for refusal in self.listed_refusals],
            "errors": [asdict(error) for error in self.errors],
            "lines": {"count": self.log.line_count, "unused": self.log.unused_count},
            "feature_levels": list(self.feature_levels),
            "notes": list(self.notes),
        }

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


def tally_entry(tally: Tally) -> dict[str, Any]:
    """Return a tally as plain data."""
    return {**asdict(tally), "lines": list(tally.lines)}


def listed_entry(listed: ListedRefusal) -> dict[str, Any]:
    """Return one entry of ``listed_refusals`` as plain data."""
    reasons = {"on_device": list(listed.on_device), "simulated": list(listed.simulated)}
    return {**asdict(listed), **reasons, "is_same": listed.is_same}


def _account_entry(account: Account) -> dict[str, Any]:
    return {
        "kind": account.kind,
        "text": account.text,
        "options": option_values(account.options),
        "rejected": [{"subgraph": index, "nodes": sorted(nodes)} for index, nodes in account.rejected.items()],
        "undecided": [{"subgraph": index, "nodes": sorted(nodes)} for index, nodes in account.undecided.items()],
        "is_certain": account.is_certain,
    }
