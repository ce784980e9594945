"""The steps into which the runtime behind a delegate splits partitions, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from delegate_sim.results.report.records import splits_of
from delegate_sim.runtime.run import Run, SubgraphRun

from ...console.layout import counted, item_list, message, name, node_list
from ...console.terminal import Line
from ..elements.paragraphs import CODE, heading_lines, more_lines, paragraph

if TYPE_CHECKING:
    from delegate_sim.delegates.capabilities import StageSplit

_STEPS_SHOWN = 10


def split_lines(run: Run, subgraph: SubgraphRun, width: int, verbose: bool) -> Iterator[Line]:
    """Yield the steps of each partition, with the device, the operations and the boundary bytes of each step."""
    splits = splits_of(run, subgraph)
    if not splits:
        return
    yield from heading_lines("Devices behind the delegate")
    for number, split in splits:
        yield from _split(number, split, width, verbose)


def _split(number: int, split: StageSplit, width: int, verbose: bool) -> Iterator[Line]:
    devices = Counter(dict.fromkeys(dict.fromkeys(step.device for step in split.steps), 0))
    for step in split.steps:
        devices[step.device] += len(step.operations)
    listed = ", ".join([f"{counted(count, 'operation')} on {name(device)}" for device, count in devices.items()])
    yield from paragraph(f"partition {number}: {counted(len(split.steps), 'step')}; {listed}", width, "  ", "    ")
    if split.error:
        text = f"the runtime falls back: {message(split.error)}"
        yield from paragraph(text, width, "    ", "      ", style=CODE)
    if len(split.steps) == 1:
        return
    shown = split.steps if verbose else split.steps[:_STEPS_SHOWN]
    for place, step in enumerate(shown):
        operations = Counter([operation for _, operation in step.operations]).most_common()
        ops = item_list([f"{operation} {count:,}" for operation, count in operations], None if verbose else width // 2)
        nodes = node_list(list(step.nodes), None if verbose else width // 3)
        text = f"step {place} on {name(step.device)}: {ops} [{nodes}]; {step.bytes_in:,} bytes in, {step.bytes_out:,} out"
        yield from paragraph(text, width, "    ", "      ")
    yield from more_lines(len(split.steps) - len(shown), "step", "    ")
