"""Tables of a reconciliation: delegation on the device and in the simulation, and the CPU nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING

from ...results.report.display import Table
from ...results.report.tables import model_name
from .cpu_reasons import CpuNode

if TYPE_CHECKING:
    from .reconciliation import Reconciliation


def reconciliation_line(found: Reconciliation) -> str:
    """Say in one line whether the simulation does the same as the device, or why not."""
    why = found.account.text if found.account is not None else "; ".join(found.differences)
    target = f"{found.setting.delegate.name} on {found.run.release}"
    return f"{model_name(found.model)}, {target}: {found.status}{f', {why}' if why else ''}"


def reconciliation_tables(found: Reconciliation) -> Mapping[str, Callable[[], Table]]:
    """Return the tables of a reconciliation: nodes that ran on the device's CPU, and the numbers of both sides."""
    return {"nodes": lambda: Table(CpuNode._fields, [tuple(node) for node in found.nodes]), "tally": lambda: _tally(found)}


def _tally(found: Reconciliation) -> Table:
    columns = tuple([field.name for field in fields(found.device) if field.name != "lines"])
    sides = (("device", found.device), ("simulated", found.simulated))
    return Table(("side", *columns), [(side, *[getattr(tally, name) for name in columns]) for side, tally in sides])
