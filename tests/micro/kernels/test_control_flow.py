"""Cases for calls of other subgraphs, and for variables."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from delegate_sim.micro.kernels.control_flow import KERNELS
from tests.support.graphs import MODEL, arena
from tests.support.micro_cases import COUNT, OPTION, SHAPE, TYPE, MicroTable, floats, found_code, unrefused_checks
from tests.support.tables import for_each

TABLE = MicroTable()
accepted, variant = TABLE.accepted, TABLE.variant
HANDLE, CONDITION, ROW = arena("RESOURCE", 1), arena("BOOL", 1), floats(4)


def calling(*sizes):
    """Return a model whose subgraphs have these numbers of inputs and outputs."""
    subgraphs = [SimpleNamespace(inputs=range(inputs), outputs=range(outputs)) for inputs, outputs in sizes]
    return replace(MODEL, subgraphs=tuple(subgraphs))


accepted("VAR_HANDLE", [], [HANDLE])
accepted("READ_VARIABLE", [HANDLE], [ROW])
accepted("ASSIGN_VARIABLE", [HANDLE, ROW], [])
variant("ASSIGN_VARIABLE", COUNT, outputs=[ROW])
variant("ASSIGN_VARIABLE", TYPE, inputs={0: ROW})
variant("ASSIGN_VARIABLE", SHAPE, inputs={0: arena("RESOURCE", 2)})

TWO, THREE = calling((1, 1), (1, 1)), calling((1, 1), (1, 1), (1, 1))
accepted("CALL_ONCE", [], [], init_subgraph_index=1, model=TWO)
variant("CALL_ONCE", COUNT, inputs=[ROW], init_subgraph_index=1, model=TWO)
variant("CALL_ONCE", OPTION, init_subgraph_index=2, model=TWO)

accepted("IF", [CONDITION, ROW], [ROW], then_subgraph_index=1, else_subgraph_index=2, model=THREE)
variant("IF", COUNT, inputs=[], outputs=[], model=THREE)
variant("IF", TYPE, inputs={0: ROW}, model=THREE)
variant("IF", SHAPE, inputs={0: arena("BOOL", 2)}, model=THREE)
variant("IF", OPTION, else_subgraph_index=3, model=THREE)
variant("IF", COUNT, model=calling((1, 1), (2, 1), (1, 1)))

accepted("WHILE", [ROW], [ROW], cond_subgraph_index=1, body_subgraph_index=2, model=THREE)
variant("WHILE", OPTION, cond_subgraph_index=3, model=THREE)
variant("WHILE", COUNT, model=calling((1, 1), (2, 1), (1, 1)))
variant("WHILE", COUNT, model=calling((1, 1), (1, 1), (2, 1)))
variant("WHILE", COUNT, inputs=[ROW, ROW], model=calling((1, 1), (2, 1), (2, 1)))


@for_each(TABLE.cases, lambda case: case.name)
def test_case(case):
    assert found_code(case) == case.code


def test_every_check_is_met_and_refused():
    assert unrefused_checks(TABLE, KERNELS) == []
