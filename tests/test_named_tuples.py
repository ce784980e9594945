"""Named tuples whose classes cost little to define are those of ``typing`` in all else."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from delegate_sim.named_tuples import NamedTuple


class Size(NamedTuple):
    """A size."""

    height: int
    width: int = 1
    unit: str = "px"

    @property
    def area(self) -> int:
        """Of the rectangle."""
        return self.height * self.width


class TypingSize(typing.NamedTuple):
    """The same, as ``typing`` makes it."""

    height: int
    width: int = 1
    unit: str = "px"


class Square(Size):
    """A size with something of its own."""

    __slots__ = ()

    @property
    def area(self) -> int:
        """Of the square."""
        return self.height**2


@pytest.mark.parametrize("kind", [Size, TypingSize])
def test_tuples_are_made_and_read_as_typing_has_it(kind):
    size = kind(2, unit="cm")
    assert (size.height, size.width, size.unit) == size == (2, 1, "cm")
    assert kind(unit="cm", height=2) == kind._make([2, 1, "cm"]) == size
    assert size._replace(width=3) == (2, 3, "cm")
    assert size._asdict() == {"height": 2, "width": 1, "unit": "cm"}
    assert kind._fields == kind.__match_args__ == ("height", "width", "unit")
    assert kind._field_defaults == {"width": 1, "unit": "px"}
    assert repr(size) == f"{kind.__name__}(height=2, width=1, unit='cm')"
    assert pickle.loads(pickle.dumps(size)) == copy.deepcopy(size) == size
    assert {hash(size), type(size), type(copy.copy(size))} == {hash((2, 1, "cm")), kind}
    assert kind.__doc__.endswith(".")
    assert typing.get_type_hints(kind)["unit"] is str
    height, *rest = size
    assert (height, rest) == (2, [1, "cm"])


@pytest.mark.parametrize("kind", [Size, TypingSize])
def test_fields_are_needed_known_and_never_assigned(kind):
    for values, named in (((), {}), ((1, 2, "px", 4), {}), ((1,), {"height": 2}), ((1,), {"depth": 2})):
        with pytest.raises(TypeError):
            kind(*values, **named)
    with pytest.raises(TypeError):
        kind._make([1])
    with pytest.raises((TypeError, ValueError)):  # by Python's version
        kind(1)._replace(depth=2)
    with pytest.raises(AttributeError):
        kind(1).height = 2
    with pytest.raises(AttributeError):
        kind(1).depth = 2


def test_a_field_without_a_default_comes_first():
    with pytest.raises(TypeError, match="Wrong: a field without a default follows one that has one"):

        class Wrong(NamedTuple):
            first: int = 0
            second: int


def test_classes_have_methods_and_classes_of_their_own():
    assert (Size(2, 3).area, Square(2).area) == (6, 4)
    assert isinstance(Square(2), Size)
    assert isinstance(Square(2), tuple)
    assert Square(2)._replace(height=3).area == 9
    assert not hasattr(Square(2), "__dict__")


def test_a_class_of_no_fields():
    class Nothing(NamedTuple):
        pass

    assert Nothing() == ()
    assert repr(Nothing()) == "Nothing()"
