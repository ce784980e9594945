import numpy as np
import pytest

from delegate_sim.model.numbers import RepeatedNumber, StoredNumbers, bounds, flat, kind_of, picked, read_as

_KINDS = ["<f2", "<f4", "<f8", "<i1", "<i2", "<i4", "<i8", "<u1", "<u2", "<u4", "<u8"]


@pytest.mark.parametrize("kind", _KINDS)
def test_numbers_are_those_of_an_array(kind):
    array = np.array([3, 0, 1, 2], kind)
    found = StoredNumbers(kind, memoryview(b"???" + array.tobytes()), 3, 4)
    assert found.tolist() == list(found) == array.tolist()
    assert [found[0], found[-1], len(found), found.nbytes] == [3, 2, 4, array.nbytes]
    assert found[1:3].tolist() == [0, 1]
    assert found[3:1].tolist() == found[9:].tolist() == []
    assert found.tobytes() == array.tobytes()
    assert np.array_equal(np.asarray(found), array)
    assert np.asarray(found).dtype == array.dtype
    assert found == StoredNumbers.of(kind, [3, 0, 1, 2])
    assert found != StoredNumbers.of(kind, [3, 0, 1])


@pytest.mark.parametrize("index", [2, -3])
@pytest.mark.parametrize("numbers", [StoredNumbers.of("<i4", [1, 2]), RepeatedNumber("<i4", 1, 2)])
def test_there_is_no_number_outside(numbers, index):
    with pytest.raises(IndexError):
        numbers[index]


def test_complex_numbers_are_read():
    array = np.array([1 + 2j, -1j], "<c8")
    found = StoredNumbers.read("<c8", array.tobytes())
    assert found.tolist() == array.tolist()
    assert found[1] == -1j


def test_a_repeated_number_takes_the_room_of_one():
    found = RepeatedNumber("<f4", 0.5, 1 << 40)
    assert (len(found), found[-1], found.nbytes, found.any()) == (1 << 40, 0.5, 1 << 42, True)
    few = found[: 1 << 2]
    assert few.tolist() == np.asarray(few).tolist() == [0.5] * 4
    assert few.tobytes() == np.full(4, 0.5, "<f4").tobytes()
    assert few == StoredNumbers.of("<f4", [0.5] * 4)
    assert np.asarray(found[: 1 << 20]).strides == (0,)
    assert not RepeatedNumber("<f4", 0.5, 0).any()


@pytest.mark.parametrize(("kind", "number"), [("<i1", 128), ("<u4", -1), ("<f4", 1e39)])
def test_numbers_that_a_type_cannot_hold_are_refused(kind, number):
    with pytest.raises(OverflowError):
        StoredNumbers.of(kind, [number])


def test_bytes_are_read_as_another_type():
    assert read_as(StoredNumbers.of("<i8", [1, -1]), "<i4").tolist() == [1, 0, -1, -1]
    with pytest.raises(ValueError, match="not a whole number of elements"):
        read_as(StoredNumbers.of("<i2", [1]), "<i4")


def test_numbers_are_picked_bit_for_bit():
    array = np.array([[0x7F800001, 2], [3, 4]], "<u4").view("<f4")
    for numbers in (flat(array), StoredNumbers.read("<f4", array.tobytes())):
        assert picked(numbers, [3, 0]).tobytes() == array.reshape(-1)[[3, 0]].tobytes()


def test_arrays_and_stored_numbers_name_their_types_alike():
    assert [kind_of(np.zeros(1, kind)) for kind in _KINDS] == _KINDS


@pytest.mark.parametrize("count", [3, 10_000])
def test_many_elements_are_picked_and_compared_as_few_are(count):
    found = StoredNumbers.of("<i2", [*range(-count // 2, count), 7])
    values, places = found.tolist(), [len(found) - 1, *range(0, len(found), 2)]
    assert picked(found, places).tolist() == [values[place] for place in places]
    assert picked(found, []).tolist() == []
    assert bounds(found) == (min(values), max(values))
    assert all(isinstance(each, int) for each in bounds(found))


def test_bits_of_many_elements_stay():
    signaling = StoredNumbers.read("<f4", b"\1\0\xa0\x7f" * 5_000)
    assert picked(signaling, range(5_000)).tobytes() == signaling.tobytes()
    assert picked(RepeatedNumber("<i4", 3, 1 << 40), [1 << 39]).tolist() == [3]
