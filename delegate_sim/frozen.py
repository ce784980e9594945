"""Plain data with names, as frozen data classes hold it, that costs next to nothing to define.

Python compiles the methods of a data class whenever its module is imported, half a millisecond for each: to look at a small model
takes no longer than that of a dozen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: bool) -> Callable[[type], type]:
        """Tell type checkers that classes are made as data classes are; nothing else looks at it."""
        return lambda made: made


@dataclass_transform(frozen_default=True, eq_default=False)
class Frozen:
    """The fields are the annotated names of a class, in order, with their defaults; nothing can be assigned to them.

    Two objects are the same if they are one object.
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _names: ClassVar[frozenset[str]] = frozenset()
    _defaults: ClassVar[Mapping[str, Any]] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._fields = tuple(cls.__annotations__)
        cls._names = frozenset(cls._fields)
        cls._defaults = MappingProxyType({name: vars(cls)[name] for name in cls._fields if name in vars(cls)})

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.__dict__
        fields.update(self._defaults)
        fields.update(zip(self._fields, values, strict=False))
        fields.update(named)
        is_twice = bool(named and values) and not named.keys().isdisjoint(self._fields[: len(values)])
        if is_twice or len(values) > len(self._fields) or fields.keys() != self._names:
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}, each once")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"cannot assign to {name!r} of {type(self).__name__}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"cannot delete {name!r} of {type(self).__name__}")


FrozenT = TypeVar("FrozenT", bound=Frozen)


def changed(original: FrozenT, **changes: object) -> FrozenT:
    """Return a copy with some fields changed; what was computed from the old ones is not kept."""
    copy = object.__new__(type(original))  # as quick as can be: a delegate's rules are a thousand copies
    fields = copy.__dict__
    fields.update(original.__dict__)
    fields.update(changes)
    if len(fields) > len(original._fields):
        kept = {name: original.__dict__[name] for name in original._fields}
        return type(original)(**{**kept, **changes})
    return copy
