"""Findings as text."""

from __future__ import annotations

from dataclasses import replace

from delegate_sim.results.report.findings import WARNING, Finding, Location
from delegate_sim_cli.text.elements.findings import alike, finding_hint, finding_text


def finding(node, size):
    place = Location(0, "main", node, "CONV_2D")
    return Finding("nnapi-rank", WARNING, f"has {size} channels of INT8", f"use {size - 1}", place, f"CONV_2D (node {node})")


def test_findings_that_differ_only_in_a_number_are_one_group():
    (members,) = alike([finding(1, 64), finding(2, 8), finding(5, 32)])
    assert finding_text(members) == "CONV_2D (3 nodes: 1-2, 5) has 8 to 64 channels of INT8"
    assert finding_hint(members) == "use 7 to 63"


def test_nodes_with_the_same_reason_and_other_hints_are_one_group():
    other = replace(finding(7, 16), hint="leave it on the CPU")
    (members,) = alike([finding(1, 64), other])
    assert finding_hint(members) == "use 63; for some of the nodes: leave it on the CPU"


def test_a_group_of_a_more_important_cause_comes_first():
    first = replace(finding(2, 5), rank=0, code="main", statement="main")
    others = [replace(finding(number, 5), rank=1) for number in (3, 4)]
    assert [len(members) for members in alike([*others, first])] == [1, 2]


def test_a_finding_about_a_partition_is_one_group_for_all_operators():
    nodes = enumerate(["MEAN", "ADD", "SUB", "MEAN", "DIV", "MUL"])
    members = [replace(finding(node, 5), code="partition-limit", location=Location(0, "main", node, op)) for node, op in nodes]
    (group,) = alike(members)
    assert finding_text(group).startswith("MEAN, ADD, SUB and 2 other operators (6 nodes: 0-5) ")
    assert len(alike([replace(member, code="other") for member in members])) == 5
