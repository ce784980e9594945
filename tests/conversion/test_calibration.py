"""The part of a script that yields samples, run with this Python."""

import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from delegate_sim.conversion.calibration import DRAWN, CalibrationKind, data_part, find_calibration
from delegate_sim.errors import OptionError

MINE = """
def data():
    while True:
        yield [[[1.5] * 4], [[7] * 5]]
        yield {"tokens": [[8] * 5], "image": 0}
"""
INPUTS = [("image", [1, 2, 3, 4], np.float32), ("tokens", [1, 5], np.int32)]


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def samples(calibration, inputs=INPUTS, **more):
    text, imports = data_part(calibration, **{"has_tensorflow": False, "moves_channels": False, **more})
    space = {"np": np, "inputs": inputs}
    exec("\n".join([*imports, text]), space)
    return list(space["samples"]())


def test_drawn_samples_fit_the_inputs():
    found = samples(find_calibration(None, 3))
    assert [{name: (array.shape, array.dtype) for name, array in each.items()} for each in found] == 3 * [
        {"image": ((1, 2, 3, 4), np.float32), "tokens": ((1, 5), np.int32)}
    ]
    assert {number for each in found for number in each["tokens"].flat} == {0, 1}


def test_the_same_samples_are_drawn_again():
    assert np.array_equal(samples(DRAWN)[7]["image"], samples(DRAWN)[7]["image"])


@pytest.mark.parametrize("extra", [(), (1,)])
def test_arrays_have_their_samples_in_a_row(extra):
    image, tokens = np.random.default_rng(0).random((4, *extra, 2, 3, 4)), np.arange(20).reshape(4, *extra, 5)
    np.savez("data.npz", tokens=tokens, image=image)
    found = samples(find_calibration("data.npz", 3))
    assert len(found) == 3
    assert np.allclose(found[2]["image"][0], image[2].reshape(2, 3, 4))
    assert np.array_equal(found[1]["tokens"], [[5, 6, 7, 8, 9]])


def test_arrays_of_other_names_are_taken_in_order():
    np.savez("data.npz", first=np.zeros((2, 2, 3, 4)), second=np.ones((2, 5)))
    assert samples(find_calibration("data.npz"))[0]["tokens"].tolist() == [[1] * 5]


def test_the_only_array_may_have_any_name():
    np.savez("data.npz", other=np.ones((2, 3)))
    calibration = replace(find_calibration("data.npz"), inputs=("x",))
    assert samples(calibration, [("x", [1, 3], np.float32)])[0]["x"].tolist() == [[1] * 3]


def test_a_part_of_a_batch_at_the_end_is_left():
    np.savez("data.npz", x=np.zeros((5, 3)))
    assert len(samples(find_calibration("data.npz"), [("x", [2, 3], np.float32)])) == 2


@pytest.mark.parametrize(("shape", "given"), [((1, 6, 7, 3), (2, 3, 6, 7)), ((1, 6, 7, 3), (2, 6, 7, 3)), ((1, 9, 4), (2, 4, 9))])
def test_channels_are_moved_where_the_converter_moved_them(shape, given):
    array = np.random.default_rng(0).random(given).astype(np.float32)
    np.savez("data.npz", x=array)
    found = samples(find_calibration("data.npz"), [("x", list(shape), np.float32)], moves_channels=True)
    expected = array if given[1:] == shape[1:] else np.moveaxis(array, 1, -1)
    assert np.array_equal(found[1]["x"][0], expected[1])


def test_samples_by_other_names_are_taken_in_order():
    Path("mine.py").write_text(MINE)
    inputs = [("args_0", [1, 5], np.int32), ("args_1", [], np.float32)]
    assert samples(find_calibration("mine.py:data", 2), inputs)[1]["args_0"].tolist() == [[8] * 5]


def test_samples_of_a_function():
    Path("mine.py").write_text(MINE)
    found = samples(find_calibration("mine.py:data", 2))
    assert [each["tokens"].tolist() for each in found] == [[[7] * 5], [[8] * 5]]
    assert found[0]["image"].dtype == np.float32


@pytest.mark.parametrize("shape", [[1, 4, 6, 3], [1, 3, 4, 6]])
def test_images_become_numbers_up_to_one(shape):
    image = pytest.importorskip("PIL.Image", reason="Pillow, which reads the images, is not installed")
    image.new("RGB", (30, 20), (255, 0, 51)).save("a.png")
    found = samples(find_calibration("."), [("x", shape, np.float32)])[0]["x"]
    assert found.shape == tuple(shape)
    assert np.allclose(found[0, 0, 0] if shape[3] == 3 else found[0, :, 0, 0], [1, 0, 0.2])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: "absent.npz", "absent.npz: does not exist"),
        (lambda: ".", ".: the folder has no images"),
        (lambda: open("a.npz", "w").close() or "a.npz", "a.npz: cannot be read as a .npz file"),
        (lambda: "absent:data", "absent:data: there is no module 'absent'"),
    ],
)
def test_what_is_no_data_is_one_line(make, words):
    with pytest.raises(OptionError, match=words):
        find_calibration(make())


def test_no_samples_are_too_few():
    with pytest.raises(OptionError, match="at least one sample"):
        find_calibration(None, 0)


def test_what_the_data_is_said_to_be():
    with zipfile.ZipFile("data.npz", "w"):
        pass
    open("b.png", "w").close()
    assert "8 samples of random numbers" in DRAWN.words
    assert "8 samples from data.npz" in find_calibration("data.npz").words
    assert find_calibration(".").kind is CalibrationKind.IMAGES
    assert DRAWN.is_drawn
