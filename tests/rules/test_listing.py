"""Lists of rules as plain data."""

from __future__ import annotations

from delegate_sim.delegates.registry import find_delegate
from delegate_sim.foundation.columns import head
from delegate_sim.results.report.rule_set import RuleChanges, rule_changes
from delegate_sim.rules.book import ListedRules


def test_an_operator_has_its_checks_or_none():
    delegate = find_delegate("xnnpack")
    listed = ListedRules("xnnpack", "", "", delegate.rules, {}, rules={"ADD": delegate.rules.rules["ADD"], "WHERE": None})
    found = listed.to_dict()
    assert found | {"operators": []} == {**head("rules"), "delegate": "xnnpack", "options": {}, "operators": []}
    add, where = found["operators"]
    assert (add["op"], add["accepted"], len(add["checks"])) == ("ADD", True, len(delegate.rules.rules["ADD"].checks))
    assert {"code", "needed", "source"} <= add["checks"][0].keys()
    assert where == {"op": "WHERE", "accepted": False, "introduced": None, "accepted_early": None, "checks": []}


def test_changes_have_the_checks_of_each_release():
    delegate = find_delegate("xnnpack")
    changes = rule_changes(delegate)
    found = RuleChanges(delegate, changes).to_dict()["changes"]
    assert [(one["release"], one["op"], len(one["added"])) for one in found] == [
        (str(change.release), change.op, len(change.added)) for change in changes
    ]
