"""Results as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.foundation.columns import entry
from delegate_sim.foundation.printable import printable
from delegate_sim.gate.results import Case, Results
from delegate_sim.results.report.findings import Location
from delegate_sim.results.report.measures import MEASURES
from delegate_sim.rules.kinds import Explanation
from delegate_sim.rules.rule import Source
from delegate_sim.version import __version__

from ..codes import explanations, sources
from ..console.layout import message, name
from ..text.elements.findings import LEVELS
from .common import PROGRAM, Group, grouped_findings, model_name, repository_path
from .common import text as markdown_text

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"
_FINGERPRINT = "delegateSim/v2"
_LONGEST_CATEGORY = 200
_LOCATIONS = 10
"""The largest number of logical locations of a group of nodes."""
_PLACES_TOLD = 3
"""The largest number of upstream sources in the help of a rule. The properties of the rule list all sources."""


def render(results: Results) -> str:
    """Return a run with a result for each group of findings, and with the rules of the results."""
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [_run(results)]}, ensure_ascii=False, indent=2) + "\n"


def _run(results: Results) -> dict[str, Any]:
    levels: dict[str, str] = {}
    for case in results.cases:
        for finding in sorted(case.findings, key=lambda finding: LEVELS.index(finding.level)):
            levels.setdefault(finding.code, finding.level)
    codes = sorted(levels)
    delegates = tuple(map(find_delegate, DELEGATE_NAMES))
    known, places = explanations(delegates), sources(delegates, levels.keys())
    return {
        "tool": {
            "driver": {
                "name": PROGRAM,
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(code, known.get(code), places.get(code, ()), levels[code]) for code in codes],
            }
        },
        **_invocations(results),
        "automationDetails": {"id": _category(results)},
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the repository."}}},
        "results": [_result(group, codes.index(group.first.code)) for group in grouped_findings(results)],
    }


def _invocations(results: Results) -> dict[str, Any]:
    told = dict.fromkeys([said for case in results.cases if (said := case.unchecked)])
    notifications = [{"level": "note", "message": {"text": _literal(message(said))}} for said in told]
    if not notifications:
        return {}
    return {"invocations": [{"executionSuccessful": True, "toolConfigurationNotifications": notifications}]}


def _category(results: Results) -> str:
    """Return the category of an upload, with a final slash. An upload replaces the commit's earlier uploads of the same category.

    The category depends only on the targets. If the category depended on the models, a new model would start a new category. The
    alerts of the old category would then stay open.
    """
    targets = "+".join(sorted({quote(printable(case.target), safe="") for case in results.cases}))
    if len(targets) > _LONGEST_CATEGORY:
        targets = hashlib.sha256(targets.encode("ascii")).hexdigest()
    return f"{PROGRAM}/{results.command}/{targets}/"


def _rule(code: str, explanation: Explanation | None, places: Sequence[Source], level: str) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": code}, "defaultConfiguration": {"level": level}}
    if explanation is None:
        return rule
    title, meaning, advice = explanation
    help_text = _literal(f"{meaning}\n\nWhat to do: {advice}")
    help_markdown = _literal(f"{markdown_text(meaning)}\n\n**What to do:** {markdown_text(advice)}")
    if places:
        told = list(dict.fromkeys(f"{source} ({source.repository.name}@{source.repository.commit[:9]})" for source in places))
        more = f" and {len(told) - _PLACES_TOLD} more" if len(told) > _PLACES_TOLD else ""
        help_text += f"\n\nSource: {', '.join(told[:_PLACES_TOLD])}{more}"
        help_markdown += f"\n\n**Source:** {', '.join(f'`{place}`' for place in told[:_PLACES_TOLD])}{more}"
        rule |= {"helpUri": places[0].url, "properties": {"sources": [source.to_dict() for source in places]}}
    return rule | {
        "shortDescription": {"text": _literal(title)},
        "fullDescription": {"text": _literal(meaning)},
        "help": {"text": help_text, "markdown": help_markdown},
    }


def _result(group: Group, rule_index: int) -> dict[str, Any]:
    case, first = group.case, group.first
    hint = f"\nWhat to do: {group.hint}" if group.hint else ""
    path = repository_path(case)
    artifact = {"uri": Path(path).as_uri()} if Path(path).is_absolute() else {"uri": quote(path), "uriBaseId": _ROOT}
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": artifact, "region": {"startLine": 1}}}
    if first.location.subgraph is not None:
        # The text names all nodes of the group, as ranges.
        location["logicalLocations"] = [_logical_location(member.location) for member in group.members[:_LOCATIONS]]
    return {
        "ruleId": first.code,
        "ruleIndex": rule_index,
        "level": first.level,
        "message": {"text": _literal(group.text + hint)},
        "locations": [location],
        "occurrenceCount": len(group.members),
        "partialFingerprints": {_FINGERPRINT: group.fingerprint},
        **({} if first.ignored is None else {"suppressions": [{"kind": "external", "justification": first.ignored}]}),
        "properties": _properties(case),
    }


def _literal(text: str) -> str:
    """Escape the parts of a message that SARIF would interpret as a placeholder or a link."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _logical_location(location: Location) -> dict[str, Any]:
    """Return the location of a node, named ``main/CONV_2D#17 (tensor name)``, or of a whole subgraph."""
    subgraph = name(location.subgraph_name) or f"subgraph {location.subgraph}"
    properties: dict[str, Any] = {"subgraph": location.subgraph}
    if location.node is None:
        return {"name": subgraph, "fullyQualifiedName": subgraph, "kind": "subgraph", "properties": properties}
    op, tensor = name(location.op), name(location.name)
    node = f"{op}#{location.node}"
    return {
        "name": node,
        "fullyQualifiedName": f"{subgraph}/{node}{f' ({tensor})' if tensor else ''}",
        "kind": "node",
        "properties": {**properties, "node": location.node, "operator": op, "tensor": tensor},
    }


def _properties(case: Case) -> dict[str, Any]:
    properties = {
        "model": model_name(case),
        "target": name(case.target),
        "delegate": case.delegate,
        "runtime": case.runtime,
        "options": _plain(case.options),
    }
    for key, measures, compute in (("measures", case.measures, case.compute), ("baseline", case.baseline, case.baseline_compute)):
        if measures is not None:
            properties[key] = {**entry(MEASURES, measures), **({} if compute is None else compute._asdict())}
    if case.times is not None:
        properties["measured"] = {**case.times._asdict(), "profile": message(case.times.profile)}
    return properties


def _plain(value: object) -> Any:
    """Return the value of an option as JSON data, with strings safe to print."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, Mapping):
        return {message(str(key)): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return message(str(value))
