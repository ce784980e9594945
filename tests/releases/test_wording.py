"""Lines of the log in the wording of each release."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.releases.catalogue import RELEASES, parse_release
from delegate_sim.releases.wording import benchmark_line, replacing_line
from delegate_sim.results.report.coverage import coverage_verdict
from delegate_sim.results.report.verdict import verdict
from tests.support.models import chain_model


def line(release):
    return replacing_line(
        parse_release(release), replaced=3, total=5, kernel="TfLiteNnapiDelegate", partitions=2, subgraph=1, name="body"
    )


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ("tf-2.10", "Replacing 3 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions."),
        ("tf-2.12", "Replacing 3 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for the whole graph."),
        (
            "tf-2.15",
            "Replacing 3 out of 5 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for the whole graph.",
        ),
        (
            "litert-1.0.1",
            "Replacing 3 out of 5 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for the whole graph.",
        ),
        (
            "litert-2.1.6",
            "Replacing 3 out of 5 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for subgraph 1.",
        ),
        (
            "tf-2.21",
            "Replacing 3 out of 5 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for subgraph 1.",
        ),
        (
            "litert-2.3",
            "Replacing 3 out of 5 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for subgraph 1 (body).",
        ),
    ],
)
def test_the_line_in_each_wording(release, expected):
    assert line(release) == expected


@pytest.mark.parametrize("release", RELEASES)
def test_every_listed_release_has_a_wording(release):
    assert line(release).startswith("Replacing 3 ")


@pytest.mark.parametrize(
    ("kernels", "plan_size", "expected"),
    [
        (1, 1, "Explicitly applied NNAPI delegate, and the model graph will be completely executed by the delegate."),
        (
            2,
            3,
            "Explicitly applied NNAPI delegate, and the model graph will be partially executed by the delegate "
            "w/ 2 delegate kernels.",
        ),
        (0, 4, "Though NNAPI delegate is explicitly applied, the model graph will not be executed by the delegate."),
    ],
)
def test_the_summary_of_benchmark_model(kernels, plan_size, expected):
    assert benchmark_line("NNAPI", kernels=kernels, plan_size=plan_size) == expected


CPU, BUILDS = "the CPU kernels", "whether kernels can be created"


@pytest.mark.parametrize(
    ("delegate", "release", "parts"),
    [
        ("gpu", "tf-2.12", ["the rules of gpu", CPU]),
        ("gpu", "tf-2.14", [CPU]),
        ("gpu", "litert-1.0", [CPU]),
        ("gpu", "litert-1.1.0", []),
        ("vx", "tf-2.12", [CPU]),
        ("mldrift", "litert-2.1.1", ["the rules of mldrift", BUILDS]),
        ("mldrift", "litert-2.1.3", [BUILDS]),
        ("mldrift", "litert-2.1.5", []),
    ],
)
def test_unchecked_parts_are_in_every_verdict(delegate, release, parts):
    assert list(find_delegate(delegate).unchecked_parts(parse_release(release))) == parts
    report = delegate_sim.analyze(chain_model(["ADD", "RELU"]).bytes(), delegate, runtime=release)
    text = f"(not checked for {report.runs[0].release}: {', '.join(parts)})"
    for words in (verdict(report.runs[0]), coverage_verdict([report.runs[0]])):
        assert words.endswith(text) if parts else "not checked" not in words
