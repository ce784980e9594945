from __future__ import annotations

from delegate_sim_cli.text.elements.paragraphs import with_ranges, without_numbers


def test_texts_that_differ_in_numbers_become_ranges():
    assert with_ranges(["size [1,64] of INT8", "size [1,8] of INT8"]) == "size [1,8 to 64] of INT8"
    assert with_ranges(["axis -1", "axis 2"]) == "axis -1 to 2"
    assert with_ranges(["the same 3", "the same 3"]) == "the same 3"


def test_digits_in_names_are_no_numbers():
    assert without_numbers("CONV_2D of INT8") != without_numbers("CONV_3D of INT16")
