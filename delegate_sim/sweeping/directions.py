"""Choose the settings to try next from what a diagnosis asks of a converter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from ..conversion.settings import Settings
from ..diagnosis.advice.converter_settings import ConverterSetting, SettingsTogether, settings_for
from ..diagnosis.diagnosis import Diagnosis, RankedCause
from ..errors import OptionError
from .shapes import Shapes

QUANTIZATIONS: Mapping[ConverterSetting, str] = MappingProxyType(
    {ConverterSetting.FLOAT: "float", ConverterSetting.FLOAT16: "float16", ConverterSetting.INT8: "int8"}
)
"""What of these is a quantization, and how ``Settings`` call it."""
OPTIONS: Mapping[ConverterSetting, str] = MappingProxyType(
    {
        ConverterSetting.PER_TENSOR: "per-tensor",
        ConverterSetting.DENSE_PER_TENSOR: "dense-per-tensor",
        ConverterSetting.OLD_QUANTIZER: "old-quantizer",
        ConverterSetting.FIXED_SHAPES: "fixed",
        ConverterSetting.UNFOLD_BATCH_MATMUL: "unfolded",
    }
)
"""What of these is an option, and how ``Settings`` call it."""

FIXED = OPTIONS[ConverterSetting.FIXED_SHAPES]
EVERYWHERE = (FIXED, OPTIONS[ConverterSetting.UNFOLD_BATCH_MATMUL])
"""Options that go with every quantisation."""


@dataclass(frozen=True, slots=True)
class Direction:
    """Where a cause points: what it asks for, and what it is called."""

    settings: SettingsTogether
    cause: str


def directions(diagnosis: Diagnosis) -> Iterator[Direction]:
    """Return where the causes of a diagnosis point, the one first whose end brings most.

    Where the end of one brings nothing without that of others, what those ask for goes with it; one whose end brings nothing
    even then points nowhere.
    """
    asked = {finding.cause.identity: _settings(diagnosis, finding) for finding in diagnosis.findings}
    for finding in diagnosis.findings:
        if finding.needs is None:
            continue
        needed = [asked[identity][0] for identity in finding.needs if asked[identity]]
        for together in asked[finding.cause.identity]:
            others = frozenset().union(*needed)
            # What a cause itself asks of types stands.
            others = others - QUANTIZATIONS.keys() if together & QUANTIZATIONS.keys() else others
            yield Direction(together | others, finding.cause.name)


def _settings(diagnosis: Diagnosis, finding: RankedCause) -> tuple[SettingsTogether, ...]:
    return settings_for(diagnosis.model, diagnosis.target.delegate, finding.cause)


def followed(settings: Settings, together: SettingsTogether, shapes: Shapes = ()) -> Settings | None:
    """Return settings changed as a cause asks for; None where that is what they are, or they do not go together.

    ``shapes`` are what inputs are fixed to where a cause asks for that.
    """
    found = settings
    try:
        for setting, name in QUANTIZATIONS.items():
            if setting in together:
                found = found.with_quantization(name)
    except OptionError:
        return None
    names = [name for setting, name in OPTIONS.items() if setting in together and name not in found.options]
    changed = with_options(found, *names, shapes=shapes) if names else found
    return None if changed == settings else changed


def with_options(settings: Settings, *names: str, shapes: Shapes = ()) -> Settings | None:
    """Return settings with further options, None if these do not go with them; ``shapes`` go with that of fixed inputs."""
    try:
        found = settings.with_option(*names)
    except OptionError:
        return None
    return replace(found, shapes=shapes) if FIXED in names else found
