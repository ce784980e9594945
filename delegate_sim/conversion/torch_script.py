"""Scripts for litert-torch, which converts ``torch.export`` programs."""

from __future__ import annotations

from .calibration import Calibration
from .settings import Settings
from .sources import SourceKind, SourceModel

_LOADED = "program = torch.export.load({path!r})\n"
_CALLED = """\
sys.path.insert(0, {folder!r})
from {module} import {function}

program = {function}()
"""
_EXAMPLES = "arguments, names = program.example_inputs\n"
_FIXED = """\
given = {shapes!r}
values = [node.meta["val"] for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
sizes = [
    given.get(name) or [size if isinstance(size, int) else 1 for size in value.shape]
    for name, value in zip(program.graph_signature.user_inputs, values)
]
drawn = [torch.zeros(size, dtype=value.dtype) for size, value in zip(sizes, values)]
arguments, names = torch.utils._pytree.tree_unflatten(drawn, program.call_spec.in_spec)
"""
_CONVERTED = """\
module = program.module(){last}
litert_torch.convert(module, tuple(arguments), names).export({result!r})
"""
_LAST = """
images = [place for place, each in enumerate(arguments) if each.dim() == 4]
module = litert_torch.to_channel_last_io(module, args=images)
arguments = [each.movedim(1, -1) if each.dim() == 4 else each for each in arguments]"""


_LISTED = """\
values = [node.meta["val"] for node in program.graph.nodes if node.name in program.graph_signature.user_inputs]
inputs = [
    (name, list(value.shape), str(value.dtype).removeprefix("torch."))
    for name, value in zip(program.graph_signature.user_inputs, values)
]
"""


def torch_inputs_lines(source: SourceModel) -> tuple[list[str], list[str]]:
    """Return the imports and lines of a script that sets ``inputs`` to the name, shape and type of each input."""
    if source.kind is SourceKind.FUNCTION:
        called = _CALLED.format(folder=source.folder, module=source.module, function=source.function)
        return ["import sys", "import torch"], [called, _LISTED]
    return ["import torch"], [_LOADED.format(path=source.path), _LISTED]


def torch_text(source: SourceModel, settings: Settings, calibration: Calibration, result: str) -> str:
    """Return the script for a ``.pt2`` file, or for a function that returns an ``ExportedProgram``."""
    imports = ["import litert_torch", "import torch"]
    if source.kind is SourceKind.FUNCTION:
        imports.insert(0, "import sys")
        lines = [_CALLED.format(folder=source.folder, module=source.module, function=source.function)]
    else:
        lines = [_LOADED.format(path=source.path)]
    if "fixed" in settings.options:
        lines.append(_FIXED.format(shapes={name: list(sizes) for name, sizes in settings.shapes}))
    else:
        lines.append(_EXAMPLES)
    lines.append(_CONVERTED.format(last=_LAST if "channels-last" in settings.options else "", result=result))
    return "\n".join(["\n".join(imports) + "\n", *lines])
