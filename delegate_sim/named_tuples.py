"""``NamedTuple`` as ``typing`` has it, of which defining a class costs next to nothing.

That of ``typing`` has Python compile a function for each class and each annotation: for the hundred classes that the smallest
model needs, a tenth of the whole time.
"""

from __future__ import annotations

import collections
import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple  # noqa: PLC0414 - said twice, a name is handed on
else:

    class _Defining(type):
        """Makes the annotated names of a class its fields, in order, with their defaults."""

        def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if bases != (tuple,) and not hasattr(bases[0], "_fields"):
                fields = tuple(namespace.get("__annotations__", ()))
                defaults = {field: namespace.pop(field) for field in fields if field in namespace}
                if tuple(defaults) != fields[len(fields) - len(defaults) :]:
                    raise TypeError(f"{name}: a field without a default follows one that has one")
                alike = vars(_alike(len(fields)))
                namespace |= {field: alike[of_alike] for field, of_alike in zip(fields, alike["_fields"], strict=True)}
                namespace["__new__"] = _maker(alike["__new__"].__func__, fields, tuple(defaults.values()))
                namespace |= {"_fields": fields, "_field_defaults": defaults, "_make": alike["_make"]}
                namespace |= {"__slots__": (), "__match_args__": fields}
            return super().__new__(mcs, name, bases, namespace)

    @functools.cache
    def _alike(count: int) -> type[tuple[Any, ...]]:
        """Return a named tuple of so many fields, whose functions serve for all others."""
        return collections.namedtuple("_Alike", [f"field{number}" for number in range(count)])

    def _maker(maker: FunctionType, fields: tuple[str, ...], defaults: tuple[Any, ...]) -> FunctionType:
        """Return what makes a tuple, as another does whose fields have other names."""
        code = maker.__code__.replace(co_varnames=(maker.__code__.co_varnames[0], *fields))
        return FunctionType(code, maker.__globals__, "__new__", defaults)

    class NamedTuple(tuple, metaclass=_Defining):
        """A tuple whose elements have names."""

        __slots__ = ()

        _asdict = _alike(0)._asdict
        __getnewargs__ = _alike(0).__getnewargs__

        def _replace(self, /, **changes: Any) -> NamedTuple:
            found = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise TypeError(f"{type(self).__name__} has no {', '.join(changes)}")
            return found

        def __repr__(self) -> str:
            fields = ", ".join([f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)])
            return f"{type(self).__name__}({fields})"
