from __future__ import annotations

import re

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from delegate_sim.gate.results import FAILED, Results
from delegate_sim.results.compare.model_changes import NodeChange
from delegate_sim.results.report.findings import Finding
from delegate_sim_cli.formats.common import code_block, text
from delegate_sim_cli.formats.markdown import render
from tests.support.cli.format_cases import (
    ANALYSIS,
    CHECK,
    EVERYTHING,
    FAILURE,
    HOSTILE_NAMES,
    MANY,
    NOTHING,
    PASSES,
    any_text,
    case,
    named,
    nasty_text,
)

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def test_a_check():
    assert render(CHECK) == (
        """\
### delegate-sim check

**failed: 4 cases (2 failed, 1 unreadable)**

| model | target | status | partitions | delegate kernels | CPU nodes | delegated share | multiply-adds | boundary bytes |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
| models/detector.tflite | phone | **failed** | 3 -> 5 | 1 -> 2 | 2 -> 4 | 80 % -> 60 % | 90 % -> 10 % | 1,024 -> 2,048 |
| models/broken.tflite | phone | **unreadable** |  |  |  |  |  |  |
| models/gone.tflite | phone | **failed** | was 3 | was 1 | was 2 | was 80 % | was 90 % | was 1,024 |
| models/detector.tflite | tablet | passed | 3 | 1 | 2 | 80 % |  | 1,024 |

#### models/detector.tflite on phone: failed

Target: nnapi on litert-2.3: --feature-level=30 --driver-rejects=ADD,MUL

- **error** `more-partitions`
  - partitions 3 -> 5; 3 are allowed
- **error** `nnapi-missing-bias`
  - CONV_2D (node 3, head/conv) fell back: no bias; needs a bias
  - What to do: add a bias of zeros to the layer
- **note** `more-border-bytes`
  - boundary bytes 1,024 -> 2,048

What changed in the model since the baseline: 1 change

- CONV_2D (node 3, head/conv): version 2 -> 3

Notes:

- options changed: feature_level 29 -> 30

<details><summary>What the runtime prints</summary>

```
Replacing 6 out of 10 node(s) with delegate
```

</details>

#### models/broken.tflite on phone: unreadable

Target: nnapi on litert-2.3: --feature-level=30 --driver-rejects=ADD,MUL

- **error** `unreadable-model`
  - models/broken.tflite: is not a TFLite model

#### models/gone.tflite on phone: failed

Target: nnapi on litert-2.3: --feature-level=30 --driver-rejects=ADD,MUL

- **error** `no-model-for-entry`
  - the baseline has an entry, but the model is gone
"""
    )


def test_an_analysis_has_no_baseline_to_speak_of():
    found = render(ANALYSIS)
    assert "**analyzed: 1 case**" in found
    assert "| models/detector.tflite | phone | delegated | 5 | 2 | 4 | 60 % | 10 % | 2,048 |" in found
    assert "baseline" not in found
    assert "->" not in found


def test_all_passed_is_a_table_alone():
    assert render(PASSES).split("\n\n")[1] == "**passed: 2 cases (1 better than the baseline)**"
    assert "####" not in render(PASSES)
    assert render(NOTHING) == "### delegate-sim check\n\n**passed: 0 cases**\n"


def test_findings_are_grouped_by_code_and_hint():
    findings = [Finding("a", "warning", str(number), hint) for number, hint in enumerate(["x", "y", "x"])]
    found = render(Results("check", (case(FAILED, findings=(*findings, Finding("b", "error", "first"))),)))
    assert "\n".join(found.split("\n")[12:]) == (
        "- **error** `b`\n  - first\n"
        "- **warning** `a`\n  - 0\n  - 2\n  - What to do: x\n"
        "- **warning** `a`\n  - 1\n  - What to do: y\n"
    )


def test_a_long_list_of_changes_is_folded():
    changes = tuple(NodeChange(0, number, number, "CONV_2D", "", "version", "1", str(number)) for number in range(2, 900))
    found = render(Results("check", (case(changes=changes),)))
    assert "<details><summary>What changed in the model since the baseline: 898 changes</summary>\n\n- CONV_2D" in found
    shown = len(re.findall("^- CONV_2D", found, re.MULTILINE))
    assert f"\n- ... and {898 - shown} more changes\n" in found


def test_what_is_left_out_is_counted():
    found = render(MANY)
    rows = len(re.findall(r"^\| models/", found, re.MULTILINE))
    assert f"\n\n... and {501 - rows} more cases\n" in found
    listed = len(re.findall(r"^  - CONV_2D", found, re.MULTILINE))
    assert f"\n- ... and {500 - listed} more findings\n" in found
    sections = found.count("\n#### ")
    assert found.endswith(f"\n\n... and {501 - sections} more cases\n")


@pytest.mark.slow
def test_no_comment_is_too_long():
    for results in EVERYTHING:
        assert len(render(results)) < 55_000
    longest = render(Results("check", named("@" * 100_000).cases * 300))
    assert len(longest) < 55_000
    assert longest.count("#### ") >= 1


@given(any_text | nasty_text)
def test_no_name_means_anything(name):
    check(named(name))


def test_no_hostile_name_means_anything():
    for name in HOSTILE_NAMES:
        check(named(name))


def check(results):
    """The document has the elements that an example with plain names has, and no others."""
    tokens = PARSER.parse(render(results))
    plain = PARSER.parse(render(named("name")))
    assert [token.type for token in tokens] == [token.type for token in plain]
    inline = [child for token in tokens for child in token.children or []]
    assert {child.type for child in inline} <= {"text", "text_special", "strong_open", "strong_close", "code_inline"}
    assert [token.content for token in tokens if token.type == "html_block"] == [
        token.content for token in plain if token.type == "html_block"
    ]
    for child in inline:
        if child.type == "text":
            assert not re.search(r"@\w|#\d", child.content)


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ("CONV_2D _x_ __y", "CONV_2D \\_x\\_ \\_\\_y"),
        ("a|b\\|c", "a&#124;b\\\\&#124;c"),
        ("<b> & -> c", "&lt;b> &amp; -> c"),
        ("@all #12 gh-3 C#", "@&#8203;all #&#8203;12 gh-&#8203;3 C#"),
        ("https://x www.x.y", "https\\://x www\\.x.y"),
        ("# a", "\\# a"),
        ("12. a", "12\\. a"),
        ("  - a", "\\- a"),
    ],
)
def test_text(plain, expected):
    assert text(plain) == expected


def test_a_fence_is_longer_than_what_it_holds():
    assert code_block(["a", "````", "b"]) == "`````\na\n````\nb\n`````"


def test_failing_cases_come_first():
    results = Results("check", (case(target="good"), FAILURE))
    assert render(results).index("| phone |") < render(results).index("| good |")
