"""Runs made of Vela's decision, with a stand-in for the process, and with the real Vela where it is installed."""

from __future__ import annotations

import os

import pytest

import delegate_sim
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_live
from delegate_sim.errors import OptionError
from delegate_sim.foundation import packages
from delegate_sim.live.live_runs import run_target
from delegate_sim.results.report.measures import measure
from delegate_sim.results.report.placement import on_cpu
from delegate_sim.results.report.rule_set import rule_set_version
from delegate_sim.results.report.verdict import verdict
from delegate_sim.runtime.target import Target
from tests.support.delegates.npu_models import chain
from tests.support.live.vela_process import DATABASE, REFUSED, SUMMARY, compiled, stand_in, table

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes are limited on POSIX systems only")


def target(name="ethos-u55-128"):
    delegate = find_live(name)
    return Target(delegate, parse_options(name, delegate.options, {}))


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Return a function that runs Vela's stand-in on a chain of operators."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(packages, "package_version", lambda name: "5.2.0")

    def call(status, output, files=(), ops=("RELU", "NEG", "RESHAPE")):
        stand_in(monkeypatch, status, output, files)
        return run_target(delegate_sim.load(chain(list(ops)).bytes()), target())

    return call


def test_places_become_a_run(run):
    made = run(0, REFUSED, compiled())
    (subgraph,) = made.subgraphs
    assert (made.outcome, subgraph.graph.execution_plan, sorted(subgraph.delegated)) == ("delegated", (0, 1), [0])
    ((_, node, (reason,)),) = on_cpu(made)
    assert (node, reason.code) == (1, "vela-constraint")
    assert "Must be INT8" in reason.needed
    assert "vela-5.2.0: SRAM 88,704 bytes" in made.warnings[0]
    assert made.warnings[2].endswith("CUSTOM 'other': Unsupported opType")
    assert rule_set_version(made.delegate) == "vela-5.2.0"


def test_a_node_without_a_printed_reason(run):
    made = run(0, "", compiled())
    assert [reasons[0].code for _, _, reasons in on_cpu(made)] == ["vela-unexplained"]


def test_each_operator_for_the_npu_is_a_partition(run):
    """Commands of two operators, then a node without commands, which belongs to the operator whose result it reads."""
    rows = [f'{number},"{number - 1}"' for number in range(1, 6)]
    database = "<debug>\n" + "".join(
        [
            table("source", '"id","ext_key"', *rows),
            table("perf", '"source_id","operator"', '1,"A"', '2,"B"', '3,"C"', '4,"Passthrough"', '5,"D"'),
            table("optimised", '"id","source_id"', "11,1", "12,2", "15,5"),
            table("queue", '"cmdstream_id","optimised_id"', "1,11", "2,12", "3,15"),
        ]
    )
    files = {**compiled(), "model_debug.xml": database.encode(), "model_summary_System.csv": SUMMARY.encode()}
    made = run(0, "", files, ["RELU"] * 5)
    assert [(subset.is_delegated, subset.nodes) for subset in made.subgraphs[0].subsets] == [
        (True, (0,)),
        (True, (1, 2)),
        (False, (3,)),
        (True, (4,)),
    ]
    assert measure(made).delegate_kernels == 3


def test_tensors_cross_a_boundary_although_the_node_between_is_removed(run):
    database = DATABASE.replace('2,"Passthrough"', '3,"Passthrough"')
    made = run(0, "", {**compiled(), "model_debug.xml": database.encode()})
    npu, cpu = made.subgraphs[0].subsets
    assert (npu.nodes, cpu.nodes, npu.outputs == cpu.inputs) == ((0,), (2,), True)


@pytest.mark.parametrize(
    ("status", "output", "words"),
    [(1, "Error: no\n", "it refuses the file: no"), (-11, "", "it crashed (SIGSEGV)"), (None, "", "it was stopped after")],
)
def test_a_file_that_is_not_compiled(run, status, output, words):
    made = run(status, output)
    assert (made.outcome, made.refusal.code, measure(made).is_delegated) == ("refused", "vela-not-compiled", False)
    assert words in verdict(made)
    assert {reasons[0].code for _, _, reasons in on_cpu(made)} == {"vela-not-compiled"}


def test_other_targets_are_simulated(run):
    model = delegate_sim.load(chain(["RELU"]).bytes())
    assert run_target(model, target("gpu")).delegate.name == "gpu"


def test_what_cannot_be_run(monkeypatch):
    monkeypatch.setattr(packages, "package_version", lambda name: "")
    with pytest.raises(OptionError, match=r"pip install '\.\[vela\]' is missing"):
        run_target(delegate_sim.load(chain(["RELU"]).bytes()), target())


@pytest.mark.slow
def test_the_real_vela(tmp_path, monkeypatch):
    pytest.importorskip("ethosu.vela", reason="needs the extra vela")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = run_target(delegate_sim.load("fixtures/models/quantized_block.tflite"), target())
    assert [subset.nodes for subset in made.subgraphs[0].subsets] == [(0,), (1, 2, 3, 4, 5), (6,)]
    assert measure(made).delegate_kernels == 1
