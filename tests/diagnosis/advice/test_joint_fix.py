"""The result of ``fix`` for several targets, at the end of a diagnosis of these targets."""

from __future__ import annotations

import pytest

from delegate_sim import load
from delegate_sim.diagnosis.advice.commands import joint_fix_command
from delegate_sim.diagnosis.advice.plain_fix import joint_fix
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.fixing.search import search
from delegate_sim.graph.effort import Effort
from tests.support.diagnoses import target
from tests.support.models import chain_model

OPS = ("ADD", "GELU", "ADD", "ADD 4", "ADD")


def diagnoses(targets, ops=OPS):
    model = load(chain_model(ops).bytes())
    effort = Effort(model)
    return [diagnose(model, each, effort) for each in targets]


@pytest.mark.parametrize("is_known", [False, True])
def test_the_result_is_that_of_fix_for_the_same_targets(is_known):
    targets = [target("nnapi"), target("gpu")]
    given = diagnoses(targets)
    if is_known:
        assert all(each.fix_search.searched is not None for each in given)
    found = joint_fix(given)
    expected = search(given[0].model, targets)
    assert [step.name for step in found.plan.steps] == [step.name for step in expected.steps]
    assert [after.measures for after in found.plan.after] == [after.measures for after in expected.after]
    assert (found.plan.simulations < expected.simulations) is is_known  # a known search is not made again
    assert found.command == "delegate-sim fix - --delegate nnapi --delegate gpu -o fixed.tflite"


@pytest.mark.parametrize(
    ("targets", "ops"),
    [
        ([target("nnapi")], OPS),
        ([target("nnapi"), target("nnapi", {"feature_level": 28, "nnapi_runtime": "9"})], OPS),
        ([target("nnapi"), target("gpu")], ["ADD"]),
    ],
    ids=["one target", "two options differ", "nothing to fix"],
)
def test_without_a_common_file_there_is_none(targets, ops):
    assert joint_fix(diagnoses(targets, ops)) is None


def test_beyond_the_effort_the_result_is_not_known():
    given = diagnoses([target("nnapi"), target("gpu")])
    given[0].effort.spend(1 << 40)
    found = joint_fix(given)
    assert (found.plan, bool(found.unknown)) == (None, True)


@pytest.mark.parametrize(
    ("targets", "options"),
    [
        ([("nnapi", {"feature_level": 28}), ("gpu", {})], "--delegate nnapi --delegate gpu --feature-level=28"),
        ([("gpu", {"max_delegated_partitions": 3}), ("coreml", {})], None),
        (
            [("nnapi", {"nnapi_runtime": "11", "feature_level": 30}), ("nnapi", {"nnapi_runtime": "13", "feature_level": 30})],
            "--delegate nnapi --android=11 --android=13 --feature-level=30",
        ),
        ([("nnapi", {"nnapi_runtime": "11"}), ("nnapi", {"feature_level": 30})], None),
        ([("nnapi", {}), ("nnapi", {"driver_rejects": ("ADD",)})], None),
        ([("nnapi", {}), ("nnapi", {"accelerator_name": "dsp"})], None),
        ([("npu-google", {"soc": "Tensor_G3"}), ("npu-google", {"soc": "Tensor_G5"})], None),
        (
            [("gpu", {"max_delegated_partitions": 3}), ("coreml", {"max_delegated_partitions": 3})],
            "--delegate gpu --delegate coreml --max-delegated-partitions=3",
        ),
    ],
)
def test_the_command_describes_exactly_the_targets(targets, options):
    model = load(chain_model(OPS).bytes())
    command = joint_fix_command(model, [target(name, values) for name, values in targets])
    assert command == ("" if options is None else f"delegate-sim fix - {options} -o fixed.tflite")
