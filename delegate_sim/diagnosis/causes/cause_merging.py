"""Merge causes that share a fix. One cause is a refused version, and the other is the feature that raised the version."""

from __future__ import annotations

from dataclasses import replace

from ...rules.kinds import Problem
from .cause import Blockers, Cause
from .change import Advice
from .change_words import feature_change

_TYPE_FEATURE = "-type"
"""The codes of features that are tensor types have this suffix."""


def joined(blockers: Blockers) -> Blockers:
    """Merge the cause of a refused version into the cause of the refused rank or type that raised the version.

    The merged cause has the identity of the rank or type, and the codes and versions of both causes. Causes are merged only if
    all nodes with the refused version also have the refused rank or type. A cause whose fix converts the whole model is not
    merged.
    """
    causes = {cause.identity: cause for cause in blockers.causes}
    for version in blockers.causes:
        problem = _raised_by(version)
        if problem is None:
            continue
        host = next((cause for cause in causes.values() if cause.identity.problem is problem and _includes(cause, version)), None)
        if host is None:
            continue
        del causes[version.identity]
        remedy = replace(host.remedy, node_versions={**host.node_versions, **version.node_versions})
        codes = tuple(dict.fromkeys([*host.codes, *version.codes]))
        causes[host.identity] = replace(host, codes=codes, remedy=remedy, advice=_advice(host, version))
    causes_of = {key: frozenset([cause for cause in own if cause in causes]) for key, own in blockers.causes_of.items()}
    return replace(blockers, causes=tuple(causes.values()), causes_of=causes_of)


def _advice(host: Cause, version: Cause) -> Advice:
    """Return the advice of a merged cause.

    The advice of ``version`` is more specific than the advice of ``host``, but may not cover all nodes of ``host``.
    """
    if version.identity.subject[-1].isdecimal():
        return host.advice
    if set(version.nodes) == set(host.nodes):
        return replace(host.advice, changes=version.advice.changes)
    added = [feature_change(code, is_continued=True) for code in version.identity.subject]
    return replace(host.advice, changes=(*host.advice.changes, *added))


def _raised_by(cause: Cause) -> Problem | None:
    """Return the kind of the feature that raised a version: rank or type.

    Return None if several features raised the version, or if the feature is not a rank or a type. A version that is too low
    counts as a type, because converters write a higher version only for another type.
    """
    if cause.identity.problem is not Problem.OPERATOR_VERSION or not cause.node_versions:
        return None
    subject = cause.identity.subject
    if subject[-1].isdecimal():
        return Problem.TYPE if min(cause.node_versions.values()) > int(subject[-1]) else None
    if subject == ("high-rank",):
        return Problem.RANK
    return Problem.TYPE if len(subject) == 1 and subject[0].endswith(_TYPE_FEATURE) else None


def _includes(cause: Cause, version: Cause) -> bool:
    return cause.remedy.accepts and set(version.nodes) <= set(cause.nodes)
