"""Converter settings to try: a quantization and the options that can be combined with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from urllib.parse import quote, unquote

from ..errors import OptionError
from ..foundation import converter_attributes as attributes
from ..foundation.printable import printable
from .converters import QUANTIZERS, Converter, Route

_TENSORFLOW = ("tensorflow", "onnx2tf")
"""The converters whose last step is TensorFlow's converter."""
_DIRECT = "onnx2tf-2"
_ALL = (*_TENSORFLOW, "keras", _DIRECT, "litert-torch")
_QUANTIZING = (*_TENSORFLOW, _DIRECT, *QUANTIZERS)


@dataclass(frozen=True, slots=True)
class QuantizationMode:
    """A quantization: the interfaces of converters that support it, and the lines that turn it on in TensorFlow's converter."""

    known_to: tuple[str, ...]
    lines: tuple[str, ...] = ()
    calibrates: bool = False
    """True if the quantization needs data to measure ranges."""
    integer_type: str = ""
    """The type of integer inputs and outputs, for the option ``integer-io``."""


@dataclass(frozen=True, slots=True)
class ConverterOption:
    """An option: the interfaces of converters and the quantizations that support it, and lines for TensorFlow's converter."""

    known_to: tuple[str, ...]
    goes_with: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()


QUANTIZATIONS: Mapping[str, QuantizationMode] = {
    "float": QuantizationMode(_ALL),
    # Weights in float16, data in float.
    "float16": QuantizationMode(_QUANTIZING, (attributes.OPTIMIZED, "converter.target_spec.supported_types = [tf.float16]")),
    # Weights in int8, data quantized at run time.
    "dynamic-range": QuantizationMode(_QUANTIZING, (attributes.OPTIMIZED,)),
    "int8": QuantizationMode(
        _QUANTIZING, (attributes.OPTIMIZED, attributes.DATASET, attributes.OPERATORS.format(attributes.INT8)), True, "int8"
    ),
    # Weights in int8, data in int16.
    "int16x8": QuantizationMode(
        _QUANTIZING, (attributes.OPTIMIZED, attributes.DATASET, attributes.OPERATORS.format(attributes.INT16X8)), True, "int16"
    ),
    # In the next two modes, weights are converted back to float before each use.
    "weights-int8": QuantizationMode(QUANTIZERS),
    "weights-int4": QuantizationMode(QUANTIZERS),
    # Weights in int4, data quantized at run time.
    "dynamic-range-int4": QuantizationMode(QUANTIZERS),
}
_ALIASES: Mapping[str, str] = {
    "dynamic": "dynamic-range",
    "dynamic_range": "dynamic-range",
    "fp16": "float16",
    "fp32": "float",
    "float32": "float",
}
"""Other common names of quantizations, keyed by the name."""
_INTEGER = ("int8", "int16x8")
_QUANTIZED_BY_BOTH = ("dynamic-range", *_INTEGER)

OPTIONS: Mapping[str, ConverterOption] = {
    # Inputs and outputs are integers too.
    "integer-io": ConverterOption(
        _QUANTIZING, _INTEGER, ("converter.inference_input_type = tf.{type}", "converter.inference_output_type = tf.{type}")
    ),
    # One scale for all channels of dense layers, or of every layer.
    "dense-per-tensor": ConverterOption((*_TENSORFLOW, *QUANTIZERS), _QUANTIZED_BY_BOTH, (attributes.DENSE_PER_TENSOR,)),
    "per-tensor": ConverterOption(_QUANTIZING, _QUANTIZED_BY_BOTH, (attributes.PER_TENSOR,)),
    # TensorFlow's older quantizer.
    "old-quantizer": ConverterOption(_TENSORFLOW, _QUANTIZED_BY_BOTH, ("{quantizer}",)),
    # Inputs of fixed sizes.
    "fixed": ConverterOption(_ALL),
    # One FULLY_CONNECTED for each matrix of a BATCH_MATMUL of known sizes.
    "unfolded": ConverterOption(_TENSORFLOW, (), (attributes.UNFOLDED,)),
    # A recurrent layer becomes the nodes of all its steps, instead of a loop or a single node.
    "unrolled": ConverterOption(("tensorflow", _DIRECT)),
    # Inputs of 4 dimensions have channels last.
    "channels-last": ConverterOption(("litert-torch",)),
}
"""The options, in the order in which ``Settings.name`` lists them."""
_FLOAT_MODEL_OPTIONS = ("fixed", "unfolded", "unrolled", "channels-last")
"""Options for the creation of the float model. If a route has a quantizer, all other options belong to the quantizer."""
_EXCLUSIVE = ({"dense-per-tensor", "per-tensor"},)


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a conversion: one of ``QUANTIZATIONS``, and options in the order of ``OPTIONS``.

    For the option ``fixed``, ``shapes`` gives input shapes by name. If an input has no given shape, its unknown sizes become
    1. Raises OptionError for unknown or incompatible settings.
    """

    quantization: str = "float"
    options: tuple[str, ...] = ()
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def __post_init__(self) -> None:
        if self.quantization not in QUANTIZATIONS:
            raise OptionError(
                printable(f"there is no quantization {self.quantization!r}; choose from {', '.join(QUANTIZATIONS)}")
            )
        for name in self.options:
            if name not in OPTIONS:
                raise OptionError(printable(f"there is no setting {name!r}; choose from {', '.join(OPTIONS)}"))
            if not goes_with(name, self.quantization):
                raise OptionError(f"the setting {name} cannot be combined with {self.quantization}")
        for group in _EXCLUSIVE:
            if group <= set(self.options):
                raise OptionError(f"the settings {' and '.join(sorted(group))} cannot be combined")
        if self.shapes and "fixed" not in self.options:
            raise OptionError("input shapes can be given only with the setting 'fixed'")
        object.__setattr__(self, "options", tuple([name for name in OPTIONS if name in self.options]))

    @property
    def name(self) -> str:
        """The name that ``parse_settings`` reads, such as ``int8+fixed``. Shapes are at the end, as in ``+input=1x224x224x3``."""
        shapes = [f"{quote(name, safe='/:._-')}={'x'.join(map(str, sizes))}" for name, sizes in self.shapes]
        return "+".join([self.quantization, *self.options, *shapes])

    def with_option(self, *names: str) -> Settings:
        """Return a copy with one more option. Raise OptionError for an unknown or incompatible option."""
        return replace(self, options=(*self.options, *names))

    def with_quantization(self, name: str) -> Settings:
        """Return a copy with another quantization. Options that are incompatible with this quantization are dropped."""
        options = tuple([option for option in self.options if goes_with(option, name)])
        return replace(self, quantization=name, options=options)

    @property
    def calibrates(self) -> bool:
        """True if the quantization needs data to measure ranges."""
        return QUANTIZATIONS[self.quantization].calibrates

    @property
    def of_float_model(self) -> Settings:
        """The settings of the float model that the quantizer reads."""
        return Settings("float", tuple([name for name in self.options if name in _FLOAT_MODEL_OPTIONS]), self.shapes)

    @property
    def of_quantizer(self) -> Settings:
        """The settings of the quantizer: the quantization, and all options that do not belong to the float model."""
        return Settings(self.quantization, tuple([name for name in self.options if name not in _FLOAT_MODEL_OPTIONS]))


def goes_with(option: str, quantization: str) -> bool:
    """Return whether an option is compatible with a quantization."""
    return not OPTIONS[option].goes_with or quantization in OPTIONS[option].goes_with


FLOAT = Settings()

_SHAPE = re.compile(r"[1-9][0-9]{0,8}(x[1-9][0-9]{0,8})*")


def parse_settings(text: str) -> Settings:
    """Parse a name such as ``int8+fixed`` into settings. Raise OptionError if the name is invalid."""
    quantization, *parts = text.split("+")
    quantization = _ALIASES.get(quantization, quantization)
    options = [part for part in parts if "=" not in part]
    shapes = []
    for part in parts:
        name, separator, sizes = part.rpartition("=")
        if separator and not _SHAPE.fullmatch(sizes):
            raise OptionError(printable(f"{text}: {sizes!r} is not a shape such as 1x224x224x3"))
        if separator:
            shapes.append((unquote(name), tuple(map(int, sizes.split("x")))))
    try:
        return Settings(quantization, tuple(options), tuple(shapes))
    except OptionError as error:
        raise OptionError(f"{printable(text)}: {error}") from None


def settings_for(route: Route) -> tuple[Settings, ...]:
    """Return the settings to try with a route, simple settings first. Each of these settings has at most one option.

    If the route has a quantizer, float settings are left out. The options ``fixed``, ``unfolded``, ``unrolled`` and
    ``channels-last`` work with every quantization, but the result has them only with float. Use ``with_option`` for more
    combinations.
    """
    plain = [Settings(name) for name in QUANTIZATIONS if name != "float"]
    result = [FLOAT, *[FLOAT.with_option(name) for name in _FLOAT_MODEL_OPTIONS]] if route.quantizer is None else []
    result += plain
    result += [
        settings.with_option(name)
        for settings in plain
        for name in OPTIONS
        if name not in _FLOAT_MODEL_OPTIONS and goes_with(name, settings.quantization)
    ]
    return tuple([settings for settings in result if knows(route, settings)])


def knows(route: Route, settings: Settings) -> bool:
    """Return whether a route supports the quantization and all options of these settings."""
    if route.quantizer is None:
        return _is_known(route.converter, settings)
    if settings.quantization == "float":
        return False
    return _is_known(route.converter, settings.of_float_model) and _is_known(route.quantizer, settings.of_quantizer)


def _is_known(converter: Converter, settings: Settings) -> bool:
    known = [QUANTIZATIONS[settings.quantization].known_to, *[OPTIONS[name].known_to for name in settings.options]]
    return all(converter.interface in parts for parts in known)


def tensorflow_lines(settings: Settings) -> Iterator[str]:
    """Yield the lines that configure TensorFlow's ``converter``. Some lines use ``samples``, a function that yields data."""
    quantization = QUANTIZATIONS[settings.quantization]
    yield from quantization.lines
    values = {
        "type": quantization.integer_type,
        "quantizer": attributes.OLD_DYNAMIC_RANGE_QUANTIZER
        if settings.quantization == "dynamic-range"
        else attributes.OLD_QUANTIZER,
    }
    for name in settings.options:
        yield from [line.format(**values) for line in OPTIONS[name].lines]
