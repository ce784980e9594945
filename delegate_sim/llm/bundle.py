"""A bundle as the engine's loader reads it, and the constraints on the engine's backends in its sections.

The loader uses the last section of each kind, and ignores sections outside the file.

Source: google-ai-edge/LiteRT-LM, ``runtime/util/litert_lm_loader.cc`` and ``schema/core/litertlm_read.cc``,
``runtime/executor/executor_settings_base.cc`` (names of backends), ``runtime/engine/engine_settings.cc`` (constraints) and
``runtime/util/magic_number_configs_helper.cc`` (the class ``MagicNumberConfigsHelper``).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

from ..bundles import litertlm
from ..bundles.bundle_error import BundleError
from ..bundles.ranged import Content
from ..delegates.npu.loader import file_facts
from ..delegates.npu.loader import load as litert_load
from ..errors import LimitError, ModelError
from ..foundation.limits import how_to_raise, raised
from ..foundation.printable import printable
from ..model.model import Model
from ..model.reader import load
from ..releases.catalogue import Release
from .report import Stop, Stopped

CPU, GPU, NPU, GPU_ARTISAN = "CPU", "GPU", "NPU", "GPU_ARTISAN"
CPU_ARTISAN, GOOGLE_TENSOR_ARTISAN, TENSOR_LLM = "CPU_ARTISAN", "GOOGLE_TENSOR_ARTISAN", "TENSOR_LLM"
BACKENDS = (CPU, GPU, NPU, GPU_ARTISAN, CPU_ARTISAN, GOOGLE_TENSOR_ARTISAN, TENSOR_LLM)
"""All backends, in the order in which the engine lists them."""
JUDGED = (CPU, GPU, NPU, GPU_ARTISAN)
"""The backends that an application can request."""

DELEGATES: Mapping[str, str] = {"mldrift": "gpu", "xnnpack": "cpu"}
"""The engine's delegates, each with its backend."""

_CONSTRAINABLE = JUDGED
_ACTIVATION_TYPES = frozenset({"float32", "fp32", "f32", "float16", "fp16", "f16", "int16", "i16", "int8", "i8", "fp32_fp16"})


def parsed_backend(text: str) -> str | None:
    """Return the backend with this name, or None if there is no such backend. Case is ignored."""
    return text.upper() if text.upper() in BACKENDS else None


def is_allowed(backend: str, constraint: str | None) -> bool:
    """Return whether a constraint allows a backend.

    The constraint is a list of backends, separated by commas. Spaces are not removed, so ``cpu, gpu`` allows only the CPU. An
    empty constraint allows nothing.
    """
    if constraint is None:
        return True
    return backend in _CONSTRAINABLE and backend in [part.upper() for part in constraint.split(",")]


def is_activation_type(text: str) -> bool:
    """Return whether the engine supports an activation type."""
    return text.lower() in _ACTIVATION_TYPES


_LEAST = 10
_STEP = 256


def is_magic(size: int) -> bool:
    """Return whether a size is a magic number, which is a prime above 10."""
    # bounded: the square root of a 32-bit size
    return size > _LEAST and all(size % divisor for divisor in range(2, int(size**0.5) + 1))


def target_of(size: int, most: int) -> int:
    """Return the size that replaces ``size``, or ``size`` itself if it is not a magic number.

    If ``most``, the number of tokens, is smaller than the magic number, return ``most``. Otherwise, return the largest multiple
    of 256 below the magic number, or the largest power of two if there is no multiple.
    """
    if not is_magic(size):
        return size
    if 0 < most < size:
        return most
    return size // _STEP * _STEP if size > _STEP else 1 << (size.bit_length() - 1)


SP_TOKENIZER, LLM_METADATA, HF_TOKENIZER, EXECUTOR_METADATA = 4, 5, 6, 9
_WEIGHTS = 7
_MAGIC = b"LITERTLM"
_MOST_BYTES = 64 << 20
"""The largest size, in bytes, of metadata or a tokenizer."""
_LONGEST_HEADER = 16 * 1024
PAGE = 4096
"""Memory maps start at multiples of this size, in bytes."""

PREFILL_DECODE, EMBEDDER, PER_LAYER_EMBEDDER = "prefill_decode", "embedder", "per_layer_embedder"
VISION_ENCODER, VISION_ADAPTER = "vision_encoder", "vision_adapter"
AUDIO_ENCODER, AUDIO_ADAPTER = "audio_encoder_hw", "audio_adapter"
ARTISAN_DECODER, AUX, MTP_DRAFTER = "artisan_text_decoder", "aux", "mtp_drafter"
PREFIX = "tf_lite_"
MODEL_TYPES = frozenset(
    {
        *(PREFILL_DECODE, EMBEDDER, PER_LAYER_EMBEDDER, VISION_ENCODER, VISION_ADAPTER, AUDIO_ENCODER, AUDIO_ADAPTER),
        *(ARTISAN_DECODER, AUX, MTP_DRAFTER),
        *("acoustic", "audio_encoder", "audio_frontend", "embed_probs", "encoder_decoder", "end_of_audio", "end_of_vision"),
        "mtp_aux",
        *("nam_attention", "nam_text_encoder", "self_conditioner", "text_decoder", "text_encoder", "vocoder"),
    }
)
"""The model types that the engine supports."""

_HEADER_HINT = "build or download the bundle again"


@dataclass(frozen=True, slots=True)
class Bundle:
    """The file, the sections of models by model type, and all other sections by data type."""

    path: str
    content: Content
    models: Mapping[str, litertlm.Section]
    others: Mapping[int, litertlm.Section]

    def is_present(self, model_type: str) -> bool:
        """Return whether the section of a model exists and is not empty."""
        section = self.models.get(model_type)
        return section is not None and section.size > 0 and section.end <= len(self.content)

    def bytes_of(self, data_type: int) -> bytes | None:
        """Return the bytes of a section with this data type, or None if the engine does not find the section.

        Raises ModelError if the section is too large.
        """
        section = self.others.get(data_type)
        if section is None or section.end > len(self.content):
            return None
        if section.size > raised(_MOST_BYTES):
            raise ModelError(printable(f"{self.path}: {section.kind} is too large ({section.size:,} bytes){how_to_raise()}"))
        # bounded: the size is at most _MOST_BYTES
        return bytes(self._section_bytes(section))

    def constraint(self, model_type: str) -> str | None:
        """Return the backend constraint of a model's section, or None if the section has none."""
        section = self.models.get(model_type)
        return None if section is None else section.item(litertlm.CONSTRAINT)

    def activation_type(self, model_type: str) -> str | None:
        """Return the preferred activation type of a model's section, or None if the section gives none."""
        section = self.models.get(model_type)
        return None if section is None else section.item(litertlm.ACTIVATION_TYPE)

    def model(self, model_type: str) -> Model | None:
        """Return a model, or None if the engine does not find the model. Raises ModelError if the model is damaged."""
        return load(self._section_bytes(self.models[model_type])) if self.is_present(model_type) else None

    def _section_bytes(self, section: litertlm.Section) -> Content:
        return self.content[section.begin : section.end]


def checked_header(path: str, content: Content) -> litertlm.Header:
    """Check the beginning of a bundle, and read its header. Raises ModelError."""
    try:
        check_beginning(content)
        return litertlm.read_header(content)
    except (BundleError, LimitError) as error:
        raise ModelError(printable(f"{path}: {error}")) from error
    except Stopped as stopped:
        raise ModelError(printable(f"{path}: is not a LiteRT-LM file, or is damaged: {stopped.stop.error}")) from stopped


def check_beginning(content: Content) -> None:
    """Check the fields before the header as the engine's reader does. Raises Stopped."""
    if not content:
        raise _stopped("empty-file", "Failed to map, error: Invalid argument")
    magic = bytes(content[: len(_MAGIC)])
    if magic != _MAGIC:
        # The bytes of a file of another kind may be secret.
        is_similar = magic.startswith(_MAGIC[:-1]) or _MAGIC.startswith(magic)
        shown = f": {magic.decode('utf-8', 'replace')}" if is_similar else ""
        raise _stopped("magic-number", f"INVALID_ARGUMENT: Invalid magic number or failed to read{shown}")
    if len(content) < 20:
        raise _stopped("header", "INTERNAL: Failed to read version bytes.")
    major = struct.unpack("<I", bytes(content[8:12]))[0]
    if major != litertlm.KNOWN_MAJOR:
        text = f"This reader doesn't support version {major}, expected version {litertlm.KNOWN_MAJOR}."
        raise _stopped(
            "format-version", f"UNIMPLEMENTED: Unimplemented Error: {text}", "write the bundle with a builder of format version 1"
        )
    if len(content) < litertlm.HEADER_START:
        raise _stopped("header", "INTERNAL: Failed to read header end offset.")
    end = struct.unpack("<Q", bytes(content[24:32]))[0]
    if end < litertlm.HEADER_START:
        raise _stopped("header", "INVALID_ARGUMENT: Invalid header end offset: smaller than current position.")
    if end > min(len(content), _LONGEST_HEADER):
        raise _stopped("header", "INTERNAL: Failed to read header data.")


def read_bundle(path: str, content: Content) -> Bundle:
    """Read the header and find the sections as the engine's loader does. Raises Stopped."""
    check_beginning(content)
    try:
        header = litertlm.read_header(content)
    except BundleError as error:
        raise Stopped(Stop("header-tables", str(error), hint=_HEADER_HINT, is_crash=True)) from error
    except LimitError as error:
        raise ModelError(printable(f"{path}: {error}")) from error
    models, others = dict[str, litertlm.Section](), dict[int, litertlm.Section]()
    for section in header.sections:
        if section.data_type in (litertlm.TFLITE_MODEL, _WEIGHTS):
            name = _model_type(section)
        if section.begin > section.end:
            text = (
                f"INVALID_ARGUMENT: Section {section.number} has invalid offsets: begin_offset ({section.begin}) > end_offset "
                f"({section.end})."
            )
            raise _stopped("section-offsets", text)
        if section.data_type == litertlm.TFLITE_MODEL:
            models[name] = section
        else:
            others[section.data_type] = section
    return Bundle(path, content, models, others)


def section_name(model_type: str) -> str:
    """Return the name of a model's section."""
    return PREFIX + model_type


def readable_model(bundle: Bundle, model_type: str, stage: str, release: Release) -> Model | None:
    """Return a model, or None if the engine does not find the model.

    Raises Stopped if the model is damaged, or if LiteRT's loader refuses it.
    """
    try:
        model = bundle.model(model_type)
    except ModelError as error:
        text = "Failed to load model from buffer\n└ Invalid flatbuffer"
        hint = f"the section is not a valid TFLite model ({error}): {_HEADER_HINT}"
        raise Stopped(Stop("model-flatbuffer", text, stage, section_name(model_type), hint=hint)) from error
    failure = None if model is None else litert_load(model, file_facts(model), release).failure
    if failure is not None:
        raise Stopped(
            Stop(
                "model-loader",
                "Failed to load model from buffer",
                stage,
                section_name(model_type),
                subgraph=failure.subgraph,
                node=failure.node,
                reasons=(failure.message,),
                hint=failure.hint,
            )
        )
    return model


def _model_type(section: litertlm.Section) -> str:
    name = section.item(litertlm.MODEL_TYPE)
    if name is None:
        return PREFILL_DECODE
    lower = name.lower()
    if not lower.startswith(PREFIX) or lower.removeprefix(PREFIX) not in MODEL_TYPES:
        text = f"INVALID_ARGUMENT: Unknown model type: {name}"
        hint = "remove the section from the bundle, or use a newer LiteRT-LM that supports this type"
        raise _stopped("model-type", text, hint, name)
    return lower.removeprefix(PREFIX)


def _stopped(check: str, text: str, hint: str = _HEADER_HINT, section: str | None = None) -> Stopped:
    return Stopped(Stop(check, text, section=section, hint=hint))
