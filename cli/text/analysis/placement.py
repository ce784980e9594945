"""The final placement of nodes after a chain of delegates, as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from delegate_sim.model.model import Node
from delegate_sim.results.report.placement import COMPILED, CPU, placements
from delegate_sim.runtime.interpreter import Run

from ...console.layout import counted, item_list, name, node_list
from ...console.terminal import Line
from ..elements.paragraphs import HEADING, paragraph


def placement_lines(runs: Sequence[Run], width: int, verbose: bool) -> Iterator[Line]:
    """Yield a paragraph for each place in each subgraph: the number, operators and indices of the nodes."""
    yield Line("Where nodes run", HEADING)
    places = [*dict.fromkeys(run.delegate.name for run in runs), COMPILED, CPU]
    labels = max(map(len, [*places[:-2], CPU]))
    several = len(runs[0].subgraphs) > 1
    for subgraph, nodes in enumerate(placements(runs)):
        if several:
            yield Line(f"  subgraph {subgraph} ({name(runs[0].subgraphs[subgraph].graph.name)})")
        by_place: dict[str, list[Node]] = {place: [] for place in places}
        for node, place in nodes:
            by_place[place].append(node)
        for place, members in by_place.items():
            if not members:
                continue
            ops = Counter(node.op for node in members).most_common()
            room = None if verbose else width // 2
            listed = item_list([f"{name(op)} {count:,}" for op, count in ops], room)
            indices = node_list([node.index for node in members], room)
            text = f"{counted(len(members), 'node')}: {listed} [{indices}]"
            label = f"  {place:<{labels}}  "
            yield from paragraph(text, width, label, " " * len(label))
