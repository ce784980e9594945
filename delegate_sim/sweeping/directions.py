"""Choose the settings to try next from the converter settings that a diagnosis suggests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..conversion.settings import Settings
from ..diagnosis.advice.converter_settings import ConverterSetting, SettingsTogether, settings_for
from ..diagnosis.diagnosis import Diagnosis
from ..errors import OptionError
from ..foundation.printable import printable

Shapes = tuple[tuple[str, tuple[int, ...]], ...]
"""Pairs of an input's name and its shape."""


def parse_shapes(texts: Sequence[str]) -> Shapes:
    """Parse texts such as ``INPUT=1,224,224,3``. Raises OptionError for any other form."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, equals, sizes = text.rpartition("=")
        if not equals or not all(size.isascii() and size.isdigit() and 0 < int(size) < 1 << 31 for size in sizes.split(",")):
            raise OptionError(printable(f"a shape is INPUT=1,224,224,3, not {text!r}"))
        shapes[name] = tuple(map(int, sizes.split(",")))
    return tuple(shapes.items())


QUANTIZATIONS: Mapping[ConverterSetting, str] = MappingProxyType(
    {ConverterSetting.FLOAT: "float", ConverterSetting.FLOAT16: "float16", ConverterSetting.INT8: "int8"}
)
"""Converter settings that are quantizations, with their names in ``Settings``."""
OPTIONS: Mapping[ConverterSetting, str] = MappingProxyType(
    {
        ConverterSetting.PER_TENSOR: "per-tensor",
        ConverterSetting.DENSE_PER_TENSOR: "dense-per-tensor",
        ConverterSetting.OLD_QUANTIZER: "old-quantizer",
        ConverterSetting.FIXED_SHAPES: "fixed",
        ConverterSetting.UNFOLD_BATCH_MATMUL: "unfolded",
        ConverterSetting.UNROLL: "unrolled",
    }
)
"""Converter settings that are options, with their names in ``Settings``."""

FIXED = OPTIONS[ConverterSetting.FIXED_SHAPES]
EVERYWHERE = (FIXED, OPTIONS[ConverterSetting.UNFOLD_BATCH_MATMUL], OPTIONS[ConverterSetting.UNROLL])
"""Options that work with every quantization."""


@dataclass(frozen=True, slots=True)
class Direction:
    """Converter settings that a cause suggests, and the name of the cause."""

    settings: SettingsTogether
    cause: str


def directions(diagnosis: Diagnosis) -> Iterator[Direction]:
    """Yield the suggestions for the causes of a diagnosis, largest gain first.

    If a cause must be fixed together with other causes, the suggestion includes the settings for the other causes. If the fix of
    a cause does not improve the result, nothing is suggested for this cause.
    """
    requested = {
        finding.cause.identity: settings_for(diagnosis.model, diagnosis.target, finding.cause) for finding in diagnosis.findings
    }
    for finding in diagnosis.findings:
        if finding.needs is None:
            continue
        needed = [requested[identity][0] for identity in finding.needs if requested[identity]]
        for together in requested[finding.cause.identity]:
            others = frozenset().union(*needed)
            # The quantization that the cause itself suggests takes precedence.
            others = others - QUANTIZATIONS.keys() if together & QUANTIZATIONS.keys() else others
            yield Direction(together | others, finding.cause.name)


def followed(settings: Settings, together: SettingsTogether, shapes: Shapes = ()) -> Settings | None:
    """Return settings with a suggestion applied, or None if the suggestion changes nothing or is incompatible.

    ``shapes`` are the input shapes to use if the suggestion fixes the shapes.
    """
    quantized = settings
    try:
        for setting, name in QUANTIZATIONS.items():
            if setting in together:
                quantized = quantized.with_quantization(name)
    except OptionError:
        return None
    names = [name for setting, name in OPTIONS.items() if setting in together and name not in quantized.options]
    changed = with_options(quantized, *names, shapes=shapes) if names else quantized
    return None if changed == settings else changed


def with_options(settings: Settings, *names: str, shapes: Shapes = ()) -> Settings | None:
    """Return settings with more options, or None if the options are incompatible.

    ``shapes`` is used only if ``names`` includes the option that fixes the input shapes.
    """
    try:
        changed = settings.with_option(*names)
    except OptionError:
        return None
    return replace(changed, shapes=shapes) if FIXED in names else changed
