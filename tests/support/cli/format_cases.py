"""Results that the tests of all formats share."""

from __future__ import annotations

from hypothesis import strategies as st

from delegate_sim.gate.results import BETTER, FAILED, PASSED, UNREADABLE, Case, Results
from delegate_sim.results.compare.model_changes import NodeChange
from delegate_sim.results.report.findings import ERROR, NOTE, WARNING, Finding, Location
from delegate_sim.results.report.measures import Measures
from delegate_sim.results.report.multiply_adds import ComputeTotals

OPTIONS = {"feature_level": 30, "disallow_nnapi_cpu": True, "device_feature_level": None, "driver_rejects": ("ADD", "MUL")}


def case(status=PASSED, **fields):
    values = {
        "model": "models/detector.tflite",
        "path": "models/detector.tflite",
        "target": "phone",
        "delegate": "nnapi",
        "runtime": "litert-2.3",
        "options": OPTIONS,
        "status": status,
    }
    return Case(**(values | fields))


BEFORE = Measures("delegated", nodes=10, delegated_nodes=8, partitions=3, delegate_kernels=1, border_bytes=1024)
COMPUTE_BEFORE, COMPUTE_NOW = ComputeTotals(400, 360), ComputeTotals(400, 40)
NOW = Measures("delegated", nodes=10, delegated_nodes=6, partitions=5, delegate_kernels=2, border_bytes=2048)

REGRESSION = Finding("more-partitions", ERROR, "partitions 3 -> 5; 3 are allowed")
FALLEN = Finding(
    "nnapi-missing-bias",
    ERROR,
    "CONV_2D (node 3, head/conv) fell back: no bias; needs a bias",
    "add a bias of zeros to the layer",
    Location(0, "main", 3, "CONV_2D", "head/conv"),
)
FAILURE = case(
    FAILED,
    findings=(REGRESSION, FALLEN, Finding("more-border-bytes", NOTE, "boundary bytes 1,024 -> 2,048")),
    notes=("options changed: feature_level 29 -> 30",),
    measures=NOW,
    baseline=BEFORE,
    compute=COMPUTE_NOW,
    baseline_compute=COMPUTE_BEFORE,
    changes=(NodeChange(0, 3, 2, "CONV_2D", "head/conv", "version", "2", "3"),),
    log_lines=("Replacing 6 out of 10 node(s) with delegate",),
)
UNREAD = case(
    UNREADABLE,
    model="models/broken.tflite",
    path="models/broken.tflite",
    findings=(Finding("unreadable-model", ERROR, "models/broken.tflite: is not a TFLite model"),),
)
STALE = case(
    FAILED,
    model="models/gone.tflite",
    path="models/gone.tflite",
    findings=(Finding("no-model-for-entry", ERROR, "the baseline has an entry, but the model is gone"),),
    baseline=BEFORE,
    baseline_compute=COMPUTE_BEFORE,
)

CHECK = Results("check", (case(measures=BEFORE, baseline=BEFORE, target="tablet"), FAILURE, UNREAD, STALE))
PASSES = Results("check", (case(measures=BEFORE, baseline=BEFORE), case(BETTER, target="watch", measures=BEFORE, baseline=NOW)))
ANALYSIS = Results(
    "analyze",
    (
        case(
            options={},
            measures=NOW,
            compute=COMPUTE_NOW,
            findings=(Finding("nnapi-missing-bias", WARNING, "CONV_2D (node 3) stays on the CPU: no bias", "add a bias"),),
        ),
    ),
)
NOTHING = Results("check", ())

HOSTILE_NAMES = (
    "",
    " ",
    "\x1b[31mred\x1b[0m",
    "line\nbreak\r\n::error::broken",
    "::set-output name=a::b",
    "##[error]x ##[set-env name=PATH]y",
    "<script>alert(1)</script><!-- ]]>",
    "@everyone closes #1 and GH-2",
    "[x](javascript:alert(1)) ![](https://evil.example/p.png) https://evil.example www.evil.example a@evil.example",
    "a|b \\| c \\\\| d",
    "`code` ``more`` ```\nblock\n```",
    "# heading",
    "1. item",
    "- item",
    "> quote",
    "    indented",
    "=== --- ***",
    '=HYPERLINK("https://evil.example")',
    "+1;=1+1,\t-1",
    "{0} {{}} $x$ %0A",
    "lone \ud800 and \udcff, \uffff, \x00",
    "../../etc/passwd",
    "a\u202eb\u2066",
    "n" * 100_000,
)


def named(name):
    """Results in which every text from outside is a given one."""
    location = Location(1, name, 7, name, name)
    findings = tuple(Finding("nnapi-missing-bias", level, name, f"see {name}", location) for level in (ERROR, WARNING, NOTE))
    change = NodeChange(0, 3, 2, name, name, "operator", name, name)
    return Results(
        "check",
        (
            case(
                FAILED,
                model=name,
                path=name,
                target=name,
                options={"accelerator_name": name, "driver_rejects": (name,)},
                findings=findings,
                notes=(name,),
                measures=NOW,
                baseline=BEFORE,
                changes=(change,) * 7,
                log_lines=(name,),
            ),
            case(UNREADABLE, model=name, path=name, target=name, findings=findings[:1]),
        ),
    )


HOSTILE = tuple(map(named, HOSTILE_NAMES))

MANY = Results(
    "check",
    (
        case(
            FAILED,
            findings=tuple(
                Finding("nnapi-missing-bias", ERROR, f"CONV_2D (node {node}) fell back", "", Location(0, "main", node, "CONV_2D"))
                for node in range(500)
            ),
            measures=NOW,
            baseline=BEFORE,
            log_lines=tuple(f"line {number}" for number in range(500)),
        ),
        *[case(FAILED, model=f"models/{number}.tflite", findings=(REGRESSION,)) for number in range(500)],
    ),
)

EVERYTHING = (CHECK, PASSES, ANALYSIS, NOTHING, MANY, *HOSTILE)

any_text = st.text(st.characters())
"""Lone surrogates, controls and what is no character among it."""
nasty_text = st.text(st.sampled_from(list("ab1 \t\n\r\\|`*_[](){}<>#@:;,.=+-%&!~$'\"/\x1b\u2028\ud800\uffff")), max_size=30)


def check_entries(entries):
    assert len({entry["fingerprint"] for entry in entries}) == len(entries)
    for entry in entries:
        assert set(entry) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert len(entry["description"]) < 4500
