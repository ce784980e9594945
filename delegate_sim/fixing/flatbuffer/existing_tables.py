"""Copy tables of an existing file, in order to change fields of the copy."""

from __future__ import annotations

import struct

from ...bundles.ranged import unpacked
from ...errors import FixError
from ...model.table import FileTable
from .layout import NewTable, Old


def copied(table: FileTable) -> NewTable:
    """Return a copy of a table with the same numbers and references.

    Raise FixError if the table has fields that are not in the schema, because such fields cannot be copied.
    """
    by_slot = {field.slot: field for field in table.fields.values()}
    copy = NewTable(table.name)
    for slot, place in table.places().items():
        field = by_slot.get(slot)
        if field is None:
            raise FixError(
                f"the model cannot be rewritten: field {slot} of one of its {table.name} tables is unknown to this version of "
                "delegate-sim and would be lost"
            )
        if field.format is None:
            copy.fields[field.name] = Old(table.target(field.name))
        else:
            (copy.fields[field.name],) = unpacked(struct.Struct(field.format), table.content, place)
    return copy
