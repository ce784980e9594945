"""The greedy planner."""

from __future__ import annotations

import itertools
import random

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.micro import planner
from delegate_sim.micro.planner import Requirement, aligned, count_pairs, plan, total_size


def placed(*requirements):
    wanted = [Requirement(*requirement) for requirement in requirements]
    offsets = plan(wanted)
    return offsets, total_size(wanted, offsets)


def test_sizes_are_aligned_to_16_bytes():
    assert [aligned(size) for size in (0, 1, 16, 17)] == [0, 16, 16, 32]


def test_buffers_of_different_steps_share_a_place():
    assert placed((64, 0, 1), (64, 2, 3)) == ((0, 0), 64)


def test_buffers_of_one_step_are_beside_each_other_the_largest_first():
    assert placed((16, 0, 1), (64, 1, 2), (32, 2, 3)) == ((64, 0, 64), 96)


def test_the_last_of_equal_buffers_comes_first():
    assert placed((32, 0, 1), (32, 0, 1)) == ((32, 0), 64)


def test_a_small_buffer_fills_the_first_gap():
    offsets, size = placed((128, 0, 0), (96, 0, 3), (32, 1, 3))
    assert offsets == (0, 128, 0)
    assert size == 224


def test_an_offline_buffer_stays_at_its_place():
    offsets, size = placed((64, 0, 1), (32, 0, 1, 16))
    assert offsets == (48, 16)
    assert size == 112


def test_no_buffers_need_no_bytes():
    assert placed() == ((), 0)


def in_every_gap(requirements):
    """Place buffers as ``plan`` does, but compare each buffer with all buffers that are already placed."""
    order = sorted(range(len(requirements)), key=lambda index: (-requirements[index].size, -index))
    offline = [index for index, wanted in enumerate(requirements) if wanted.offline_offset >= 0]
    offsets = {}
    for index in (*offline, *[index for index in order if requirements[index].offline_offset < 0]):
        wanted = requirements[index]
        others = [other for other in offsets if overlap(requirements[other], wanted)]
        places = sorted((offsets[other], offsets[other] + requirements[other].size) for other in others)
        offset = 0
        for start, end in places:
            if start - offset >= wanted.size:
                break
            offset = max(offset, end)
        offsets[index] = wanted.offline_offset if index in offline else offset
    return tuple(offsets[index] for index in range(len(requirements)))


def overlap(one, other):
    return one.first <= other.last and other.first <= one.last


def some_requirement(generator, steps):
    first = generator.randrange(-1, steps)
    last = min(first + generator.choice((0, 1, 2, steps)), steps)
    return Requirement(16 * generator.randrange(8), first, last, generator.choice((-1, -1, 16 * generator.randrange(9))))


@pytest.mark.parametrize("steps", [1, 3, 10, 100])
def test_a_plan_is_the_plan_of_comparing_all_buffers(steps):
    generator = random.Random(steps)
    for count in range(40):
        wanted = [some_requirement(generator, steps) for _ in range(count)]
        assert plan(wanted) == in_every_gap(wanted)
        assert count_pairs(wanted) == sum(overlap(*pair) for pair in itertools.combinations(wanted, 2))


def test_pairs_beyond_the_limit_are_refused_before_any_is_compared(monkeypatch):
    monkeypatch.setattr(planner, "_first_gap", None)
    buffers = [Requirement(16, 0, 1)] * 5001
    with pytest.raises(LimitError, match="12,502,500 pairs of buffers are used at the same time"):
        plan(buffers)
