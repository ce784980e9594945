"""The rule books as a whole: what they refuse without a rule, where the variants differ, and that nothing is left out."""

from __future__ import annotations

import pytest

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.delegates.vx import layers
from delegate_sim.delegates.vx.checks import NXP_VX_5_15_71, NXP_VX_6_6_3, VX_DELEGATE
from delegate_sim.delegates.vx.delegate import NXP_RULES, RULES
from delegate_sim.graph.graph import NodeView
from tests.support.delegates.cases import assert_explained
from tests.support.delegates.vx_cases import (
    BOOKS,
    CUSTOM,
    FLOAT,
    FLOAT_EMPTY,
    FLOAT_RANK_7,
    INT64,
    LF_5_15_71,
    LF_6_6_3,
    OPERATOR,
    RANK,
    SHAPE,
    STRING,
    TARGET,
    TYPE,
    UPSTREAM,
    identity,
)
from tests.support.graphs import node_view


def differences(first, second):
    """The operators that both books have, with different checks."""
    return {
        op
        for op in first.rules.keys() & second.rules.keys()
        if list(map(identity, first.rules[op].checks)) != list(map(identity, second.rules[op].checks))
    }


@pytest.mark.parametrize("book", BOOKS.values(), ids=BOOKS)
@pytest.mark.parametrize("op", ["CEIL", "COS", "LOG_SOFTMAX", "LSTM", "PADV2", "TILE", "TOPK_V2", "WHERE"])
def test_operators_without_a_mapper(op, book):
    node = node_view(op, [INT64], [INT64])
    (reason,) = book.validate(node, TARGET).reasons
    assert (reason.code, reason.found) == (OPERATOR, op)
    assert f"op {node.node.builtin_code}" in reason.message


def test_a_custom_operator_is_not_the_builtin_of_its_name_nor_the_other_way_round():
    assert RULES.validate(node_view("ABS", [FLOAT], [FLOAT], custom=True), TARGET).reasons[0].code == CUSTOM
    ours = node_view("vsi-npu", [FLOAT], [FLOAT], custom=True)
    builtin = NodeView(ours.graph, ours.node._replace(builtin_code=0))
    assert RULES.validate(builtin, TARGET).reasons[0].code == OPERATOR


@pytest.mark.parametrize("op", sorted(RULES.rules))
def test_every_operator_refuses_what_none_takes(op):
    for tensors, code in (([FLOAT_RANK_7], RANK), ([FLOAT_EMPTY], SHAPE), ([STRING], TYPE)):
        node = node_view(op, tensors * 20, [FLOAT], custom=op in layers.CUSTOM_RULES)
        assert RULES.validate(node, TARGET).reasons[0].code == code


# What the variants differ in


def test_nxp_differs_from_upstream_in_two_operators():
    newest = NXP_RULES[LF_6_6_3]
    assert newest.rules.keys() == RULES.rules.keys()
    assert differences(newest, RULES) == {"BATCH_MATMUL", "PACK"}


def test_the_older_nxp_release_lacks_twelve_operators_and_differs_in_four():
    older, newest = NXP_RULES[LF_5_15_71], NXP_RULES[LF_6_6_3]
    assert newest.rules.keys() - older.rules.keys() == {
        "BIDIRECTIONAL_SEQUENCE_LSTM", "BIDIRECTIONAL_SEQUENCE_RNN", "BROADCAST_TO", "CAST", "EMBEDDING_LOOKUP", "GELU",
        "HASHTABLE_LOOKUP", "MIRROR_PAD", "SCATTER_ND", "SHAPE", "SQUARED_DIFFERENCE", "UNIDIRECTIONAL_SEQUENCE_RNN",
    }  # fmt: skip
    assert older.rules.keys() < newest.rules.keys()
    assert differences(older, newest) == {"ARG_MAX", "ARG_MIN", "BATCH_MATMUL", "RESHAPE"}


def test_the_books_of_each_delegate():
    nxp = find_delegate("vx-nxp")
    assert find_delegate("vx").rule_books == (RULES,)
    assert nxp.rule_books == (NXP_RULES[LF_6_6_3], NXP_RULES[LF_5_15_71])
    assert [nxp.rules_for({"release": name}) for name in NXP_RULES] == list(NXP_RULES.values())


REPOSITORIES = {UPSTREAM: VX_DELEGATE, LF_6_6_3: NXP_VX_6_6_3, LF_5_15_71: NXP_VX_5_15_71}


@pytest.mark.parametrize("name", BOOKS)
def test_rules_and_checks_name_their_places_in_the_repository_of_the_variant(name):
    book = BOOKS[name]
    sources = {
        source
        for rule in book.rules.values()
        for source in (*book.sources_of(rule), *[book.source_of(check, rule) for check in rule.all_checks])
    }
    assert {source.repository for source in sources} == {REPOSITORIES[name]}
    assert {source.file for source in sources} == {"op_map.cc"}


@pytest.mark.parametrize(
    ("name", "op", "mapper"),
    [
        (UPSTREAM, "PACK", "PackMapper"),
        (LF_6_6_3, "PACK", "PackMapper::IsOpSupported"),
        (LF_6_6_3, "MAXIMUM", "SimpleOpWithBroadcastNoActivationMapper"),
        (LF_5_15_71, "MAXIMUM", "MaximumMapper"),
        (LF_5_15_71, "ADD", "SimpleOpWithFusedActiovationMapper::IsOpSupported"),
    ],
)
def test_the_mapper_of_an_operator_and_what_every_operator_goes_through(name, op, mapper):
    book = BOOKS[name]
    assert [source.symbol for source in book.sources_of(book.rules[op])] == [mapper, "OpMapperBase::IsSupported"]
    assert book.source_of(book.rules[op].checks[0], book.rules[op]).symbol == "OpMapperBase::IsSupported"


# Nothing is left out


def test_every_code_is_explained_and_every_check_has_a_hint():
    assert_explained(RULES)
    for book in NXP_RULES.values():
        assert book.explained == RULES.explained
        assert all(book.hint_of(check) for rule in book.rules.values() for check in rule.all_checks)
