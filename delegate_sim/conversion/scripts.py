"""Generate the Python scripts of a conversion. The text that the user sees is exactly the text that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import OptionError
from ..foundation.printable import printable
from .calibration import DRAWN, Calibration
from .converters import Converter, Route
from .quantizer_script import quantizer_text
from .settings import Settings, knows
from .sources import SourceModel
from .tensorflow_script import onnx_text, tensorflow_text
from .torch_script import torch_text

RESULT = "model.tflite"
"""The name of the file that the last script writes."""
FLOAT_MODEL = "float.tflite"
"""The name of the file that the quantizer's script reads."""

_TEXTS: Mapping[str, Callable[[SourceModel, Settings, Calibration, str], str]] = MappingProxyType(
    {"tensorflow": tensorflow_text, "onnx2tf": onnx_text, "litert-torch": torch_text}
)


@dataclass(frozen=True, slots=True)
class Script:
    """One step of a conversion: a script that runs in a converter's interpreter and writes a file into the current folder."""

    converter: Converter
    text: str
    source: SourceModel | None
    """The source model that the script loads, or None if the script loads a model that a converter wrote."""


def scripts(source: SourceModel, route: Route, settings: Settings, calibration: Calibration = DRAWN) -> tuple[Script, ...]:
    """Return the scripts of a conversion. Raise OptionError for settings that the route does not support.

    With a quantizer, the second script reads the file ``float.tflite`` of the first script.
    """
    if not knows(route, settings):
        raise OptionError(f"{route.name} does not support the setting {printable(settings.name)}")
    make = _TEXTS[route.converter.name]
    if route.quantizer is None:
        return (Script(route.converter, make(source, settings, calibration, RESULT), source),)
    first = make(source, settings.of_float_model, calibration, FLOAT_MODEL)
    moves_channels = route.converter.name == "onnx2tf" or "channels-last" in settings.options
    second = quantizer_text(settings.of_quantizer, calibration, FLOAT_MODEL, RESULT, moves_channels=moves_channels)
    return Script(route.converter, first, source), Script(route.quantizer, second, None)


def code(source: SourceModel, route: Route, settings: Settings, calibration: Calibration = DRAWN) -> str:
    """Return the scripts of all steps as one text. A comment before each script names the converter and its version."""
    steps = [
        f"# {step.converter.name} {step.converter.version or '(not installed)'}\n{step.text}"
        for step in scripts(source, route, settings, calibration)
    ]
    return "\n".join(steps)
