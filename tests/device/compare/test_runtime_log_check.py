"""The compilations in a log of Android's runtime, and the simulated partitions."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.delegates.nnapi.device_profile import DevicesProfile
from delegate_sim.device.compare.runtime_log_check import matched_partitions, split_differences
from delegate_sim.device.parse.compilations import RuntimeChoice, RuntimeCompilation, RuntimeLog, RuntimeStep
from delegate_sim.device.parse.log import read_log
from tests.support.device.phone import device, log_of, run_with
from tests.support.growth import calls_while
from tests.support.models import chain_model

DSP = DevicesProfile((device("dsp", 0.2),))


def partitions(count):
    """Return the run of a model with this number of partitions, each with one ADD."""
    return run_with(delegate_sim.load(chain_model(["ADD", "ROUND"] * count).bytes()), DSP, max_delegated_partitions=0)


def compilations(count, *names, number=0):
    choices = tuple([RuntimeChoice(name, place, number, f"d{number}", ()) for place, name in enumerate(names)])
    step = RuntimeStep(number, tuple(range(len(names))))
    return (RuntimeCompilation(choices, (step,), len(names), 2),) * count


def test_each_compilation_matches_one_partition():
    log = RuntimeLog((), (*compilations(1, "TANH"), *compilations(2, "ADD"), *compilations(1, "ADD", "ADD")))
    matched = matched_partitions(log, partitions(3))
    assert [compilation for _, compilation in matched] == [*log.compilations[1:3], None]
    assert [[one.name for one in operations] for operations, _ in matched] == [["ADD"]] * 3


def test_each_compilation_has_the_steps_of_one_partition():
    run = partitions(2)
    log = read_log(log_of(run))
    assert list(split_differences(log, run)) == []
    (difference,) = split_differences(log, partitions(1))
    assert "no partition" in difference


@pytest.mark.parametrize("compare", [matched_partitions, lambda log, run: list(split_differences(Log(log), run))])
def test_the_work_does_not_grow_with_the_product(compare):
    calls = []
    for count in (1, 100, 400):
        log, run = RuntimeLog((), compilations(count, "TANH") + compilations(count, "ADD", number=1)), partitions(count)
        calls.append(calls_while(lambda log=log, run=run: compare(log, run))[0])
    assert calls[2] < 6 * calls[1]


class Log:
    """A log with only the lines of the runtime."""

    def __init__(self, runtime):
        self.runtime = runtime
