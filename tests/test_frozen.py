"""Plain data whose classes cost little to define."""

import copy
import functools
import pickle

import pytest

from delegate_sim.frozen import Frozen, changed


class Box(Frozen):
    """A box."""

    name: str
    sizes: tuple[int, ...] = ()
    depth: int = 1

    @functools.cached_property
    def volume(self):
        return self.depth * sum(self.sizes)


def test_fields_are_given_in_order_or_by_name():
    for box in (Box("a", (2, 3)), Box("a", sizes=(2, 3)), Box(sizes=(2, 3), name="a", depth=1)):
        assert (box.name, box.sizes, box.depth) == ("a", (2, 3), 1)


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), (("a", (), 1, 2), {}), (("a",), {"name": "b"}), (("a",), {"width": 1}), ((), {"sizes": (1,)})],
)
def test_a_field_that_is_missing_unknown_or_given_twice_is_refused(values, named):
    with pytest.raises(TypeError, match="Box takes name, sizes, depth, each once"):
        Box(*values, **named)


def test_nothing_can_be_assigned_or_deleted():
    box = Box("a")
    with pytest.raises(AttributeError, match="cannot assign to 'name' of Box"):
        box.name = "b"
    with pytest.raises(AttributeError, match="cannot delete 'name' of Box"):
        del box.name
    assert box.name == "a"


def test_a_changed_copy_computes_anew():
    box = Box("a", (2, 3))
    assert box.volume == 5
    other = changed(box, depth=2)
    assert (type(other), other.name, other.volume, box.volume) == (Box, "a", 10, 5)


def test_a_change_of_no_field_is_refused():
    with pytest.raises(TypeError, match="Box takes"):
        changed(Box("a"), width=1)


def test_objects_are_the_same_if_they_are_one():
    assert Box("a") != Box("a")
    assert len({Box("a"), Box("a")}) == 2


def test_copies_are_whole():
    box = Box("a", (2, 3))
    for other in (copy.copy(box), copy.deepcopy(box), pickle.loads(pickle.dumps(box))):
        assert (other.name, other.sizes, other.depth) == ("a", (2, 3), 1)
