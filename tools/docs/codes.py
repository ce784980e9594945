"""Print docs/codes.md: the codes of reports and findings, from what ``explain CODE`` prints (``make docs``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from delegate_sim.apps.manifest import CODES as APP
from delegate_sim.delegates.ahead_of_time import EXPLAINED as VELA
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.diagnosis.causes.change import SUGGESTIONS
from delegate_sim.gate import GATE
from delegate_sim.micro.target import EXPLAINED as MICRO
from delegate_sim.rules.kinds import RUNTIME_KINDS, Explanation
from delegate_sim.versions.explanation import FEATURES
from delegate_sim_cli.codes import explanations

_HEAD = """\
# Codes

This page explains the code of every refusal, finding and suggestion. Codes do not change between versions, so you can use them in
baselines, SARIF and scripts.

```
$ delegate-sim explain nnapi-operator-version    # one code, with its operators and upstream lines
$ delegate-sim explain                           # all codes
```

This page is generated from the output of `explain` (`make docs`).
"""


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join([_HEAD, *_sections()])


def _sections() -> Iterator[str]:
    delegates = tuple(map(find_delegate, DELEGATE_NAMES))
    known = explanations(delegates)
    runtime = [kind.name for kind in RUNTIME_KINDS if kind.name in known]
    yield _section("Any delegate: the model and the runtime", runtime, known)
    listed = {*runtime, *GATE, *FEATURES, *SUGGESTIONS, *MICRO, *VELA, *APP}
    by_owners: dict[tuple[str, ...], list[str]] = {}
    for code in sorted(known.keys() - listed):
        owners = tuple([delegate.name for delegate in delegates if code in delegate.kinds])
        by_owners.setdefault(owners, []).append(code)
    for owners, codes in sorted(by_owners.items(), key=lambda entry: [*map(DELEGATE_NAMES.index, entry[0])]):
        yield _section(", ".join(owners), codes, known)
    yield _section("Arm's compiler Vela", sorted(VELA), known)
    yield _section("Android applications", sorted(APP), known)
    yield _section("TensorFlow Lite Micro", sorted(MICRO), known)
    yield _section("Findings of check and scan", sorted(GATE), known)
    yield _section("Features that raise an operator's version", sorted(FEATURES), known)
    yield _section("Changes that a diagnosis suggests", sorted(SUGGESTIONS), known)


def _section(title: str, codes: Iterable[str], known: Mapping[str, Explanation]) -> str:
    entries = [_entry(code, known[code]) for code in codes]
    return "\n".join([f"## {title}", "", *entries])


def _entry(code: str, explained: Explanation) -> str:
    title, meaning, advice = [" ".join(text.split()) for text in (explained.title, explained.meaning, explained.advice)]
    return "\n".join([f"### `{code}`", "", f"**{title}.** {meaning}", "", f"What to do: {advice}", ""])


if __name__ == "__main__":
    print(page(), end="")
