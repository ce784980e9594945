"""The comparison of two wheels: classes of messages and of moved nodes."""

import sys

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.foundation.packages import runtime_of
from tools.upstream.wheels import Change, class_of, line_changes, moved, sample, table


@pytest.mark.parametrize(
    ("first", "second", "are_alike"),
    [
        ("Node number 3 (ADD) failed to prepare.", "Node number 12 (ADD) failed to prepare.", True),
        ("Node number 3 (ADD) failed to prepare.", "Node number 3 (MUL) failed to prepare.", False),
        ("buffer (0x7f00), 5", "buffer (0x1), 6", True),
        ("INFO: [litert/x.cc:12] Partition", "ERROR: [litert/y.cc:13] Partition", True),
        ("", "ok", False),
    ],
)
def test_numbers_make_no_class(first, second, are_alike):
    assert (class_of(first) == class_of(second)) == are_alike


def test_lines_of_one_wheel_are_changes():
    changes = list(line_changes("cpu", ["a 1", "b"], ["b", "c 2", "c 3"]))
    assert changes == [Change("cpu", "a N", "(not printed)"), Change("cpu", "(not printed)", "c N")]


def test_moved_nodes_are_changes_of_their_places():
    assert list(moved("xnnpack", None, {(0, 1): 0, (0, 2): 0}, {(0, 1): 0})) == [Change("xnnpack", "?: delegate", "?: CPU")]
    assert list(moved("xnnpack", None, {(0, 1): 0}, {(0, 1): 1})) == [Change("xnnpack", "the same nodes", "in other kernels")]


def test_a_model_counts_once_in_a_class():
    change, model = Change("cpu", "ok", "a|b"), ("/c/fuzz.zip", "m.tflite")
    last = table([(change, model), (change, model)], "2 models").splitlines()[-1]
    assert last == "| cpu | ok | a\\|b | 1 | fuzz:m.tflite |"


def test_no_models_are_no_sample(tmp_path):
    assert sample([], None) == []


@pytest.mark.parametrize("python", ["/nowhere", "/bin/false", sys.executable + "x"])
def test_a_python_without_the_runtime_is_refused(python):
    with pytest.raises(OptionError, match="is not a Python with ai-edge-litert"):
        runtime_of(python)
