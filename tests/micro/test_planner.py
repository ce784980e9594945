"""The greedy planner."""

from __future__ import annotations

from delegate_sim.micro.planner import Requirement, aligned, plan, total_size


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
