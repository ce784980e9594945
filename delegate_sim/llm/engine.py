"""LiteRT-LM's engine. It checks a bundle in several steps, and the first failed check ends the run.

Source: google-ai-edge/LiteRT-LM, ``c/engine.cc``, ``runtime/core/engine_impl.cc`` and ``runtime/engine/engine_settings.cc``. If
the source differs from the binaries of ``litert-lm-api``, the simulation follows the binaries.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..bundles.opening import open_source
from ..releases.catalogue import NEWEST, Release, parse_release
from ..runtime.target import Target
from .bundle import (
    ARTISAN_DECODER,
    AUDIO_ENCODER,
    BACKENDS,
    CPU_ARTISAN,
    DELEGATES,
    GOOGLE_TENSOR_ARTISAN,
    GPU,
    GPU_ARTISAN,
    LLM_METADATA,
    NPU,
    PAGE,
    PREFILL_DECODE,
    TENSOR_LLM,
    VISION_ENCODER,
    is_activation_type,
    is_allowed,
    parsed_backend,
    read_bundle,
    readable_model,
    section_name,
)
from .executor import IN_MEMORY, make_executor
from .progress import EngineProgress
from .report import ENGINE, BackendReport, Stop, Stopped
from .sections import ProtobufError, Tokenizer, read_llm_metadata, read_tokenizer
from .session import generate, open_session

KNOWN_OPTIONS = ("vision", "audio", "cache_dir", "kw", "prompt", "dispatch")
_NO_CACHE = ":nocache"
_METADATA_IS_CHECKED = parse_release("litert-2.4")
"""The first release with an engine that reports missing metadata instead of crashing."""
_PARAMETERS = "odml.infra.proto.LlmParameters"


def run_engine(path: str, backend: str, options: Mapping[str, Any], release: Release = NEWEST) -> BackendReport:
    """Simulate the engine on a bundle. Raises ModelError if the file cannot be read."""
    notes = [f"the option {name} is not simulated, so it has no effect" for name in options if name not in KNOWN_OPTIONS]
    asked = parsed_backend(backend)
    if asked in (None, CPU_ARTISAN):
        known = f"{backend}. Supported backends are: [{', '.join(BACKENDS)}]"
        refused = Stop("backend", f"INVALID_ARGUMENT: Unsupported backend: {'1' if asked else known}")
        return BackendReport(path, asked or backend, options, refused, (), notes=tuple(notes))
    content = open_source(path).on_this_computer
    progress = None
    try:
        bundle = read_bundle(path, content)
        backend = GPU_ARTISAN if asked == GPU and bundle.is_present(ARTISAN_DECODER) else asked
        progress = EngineProgress(bundle, backend, options, release, notes=notes)
        _run(progress)
        stop = None
    except Stopped as stopped:
        stop = stopped.stop
    if progress is None:
        return BackendReport(path, asked, options, stop, (), notes=tuple(notes))
    lines, log_lines = tuple(progress.replacements), tuple(progress.log_lines)
    return BackendReport(path, asked, options, stop, lines, log_lines, tuple(dict.fromkeys(progress.notes)))


def run_on_targets(path: str, targets: Iterable[Target]) -> list[BackendReport]:
    """Simulate the engine on each backend that uses the delegate of a target, with the target's release. Raises ModelError."""
    releases = {DELEGATES[target.delegate.name]: target.release for target in targets if target.delegate.name in DELEGATES}
    return [run_engine(path, backend, {}, release) for backend, release in releases.items()]


def _run(progress: EngineProgress) -> None:
    bundle = progress.bundle
    _read_metadata(progress)
    tokenizer: Tokenizer | None = None
    is_counted = bool(progress.options.get("prompt"))
    if progress.metadata is not None and progress.metadata.model_name is None:
        tokenizer = read_tokenizer(bundle, is_counted=is_counted)
    _check_settings(progress)
    if progress.backend == GPU_ARTISAN:
        _run_artisan(progress)
        return
    executor = make_executor(progress)
    if tokenizer is None:
        tokenizer = read_tokenizer(bundle, is_counted=is_counted)
    if progress.backend == NPU:
        progress.notes.append("without a vendor's compiler plugin, the nodes for the NPU run on the CPU")
    open_session(progress)
    generate(progress, executor, tokenizer)


def _read_metadata(progress: EngineProgress) -> None:
    content = progress.bundle.bytes_of(LLM_METADATA)
    hint = "add an LlmMetadata section; if the file is truncated, download it again"
    if content is None and progress.release.is_at_least(_METADATA_IS_CHECKED):
        text = "NOT_FOUND: LlmMetadata not found in the model file."
        raise Stopped(Stop("metadata", text, section="LlmMetadataProto", hint=hint))
    if content is None:
        text = "the bundle has no complete LlmMetadata section: the engine crashes without a message"
        raise Stopped(Stop("metadata", text, section="LlmMetadataProto", hint=hint, is_crash=True))
    try:
        progress.metadata = read_llm_metadata(content)
    except ProtobufError as error:
        hint = f"build the bundle again: the metadata {error}"
        raise Stopped(Stop("metadata", "INTERNAL: Failed to parse LlmMetadata", section="LlmMetadataProto", hint=hint)) from error


def _check_settings(progress: EngineProgress) -> None:
    bundle, options = progress.bundle, progress.options
    if progress.backend == GOOGLE_TENSOR_ARTISAN:
        raise Stopped(Stop("backend", "INVALID_ARGUMENT: Not recognized backend: 5"))
    parts = [("Main", PREFILL_DECODE, progress.backend)]
    parts += [
        (title, model_type, str(options[name]).upper())
        for title, model_type, name in (("Vision", VISION_ENCODER, "vision"), ("Audio", AUDIO_ENCODER, "audio"))
        if options.get(name)
    ]
    for title, model_type, backend in parts:
        constraint, section = bundle.constraint(model_type), section_name(model_type)
        if not is_allowed(backend, constraint):
            text = (
                f"INVALID_ARGUMENT: {title} backend constraint mismatch. Model requires one of [{constraint}] but {title} "
                f"backend is {backend}"
            )
            raise Stopped(Stop("backend-constraint", text, section=section, hint=_constraint_hint(constraint or "", title)))
        activation = bundle.activation_type(model_type)
        if activation is not None and not is_activation_type(activation):
            text = (
                f"INVALID_ARGUMENT: Unsupported activation data type: {activation}. Supported activation data types are: "
                "[FLOAT32, FLOAT16, INT16, INT8]"
            )
            hint = "change or remove prefer_activation_type in the section"
            raise Stopped(Stop("activation-type", text, section=section, hint=hint))
    folder = options.get("cache_dir")
    if isinstance(folder, str) and folder and folder not in (_NO_CACHE, IN_MEMORY) and not _can_exist(folder):
        text = f"INVALID_ARGUMENT: Cache directory does not exist or is not writable: {folder}"
        raise Stopped(Stop("cache-folder", text, hint="create the folder, and make it writable for the application"))
    if progress.backend == TENSOR_LLM:
        raise Stopped(Stop("backend", "INVALID_ARGUMENT: Unsupported model type for TENSOR_LLM backend: 1"))


def _constraint_hint(constraint: str, title: str) -> str:
    parts = [part.strip().lower() for part in constraint.split(",") if part.strip()]
    spaces = (
        " Remove the spaces from the list, because the engine does not ignore them."
        if any(part != part.strip() for part in constraint.split(","))
        else ""
    )
    if not parts:
        return "remove the empty constraint from the section, because no backend meets it"
    return f"use {' or '.join(parts)} as the {title.lower()} backend, or change the section's backend_constraint.{spaces}"


def _can_exist(folder: str) -> bool:
    """Return whether a folder exists or can be created: the nearest existing parent is writable and is not the root.

    The folder is on the device, so this check on the host finds only obvious faults.
    """
    path = os.path.abspath(folder)
    while not os.path.isdir(path):
        path = os.path.dirname(path)
    return path != os.path.dirname(path) and os.access(path, os.W_OK)


def _run_artisan(progress: EngineProgress) -> None:
    bundle, section = progress.bundle, section_name(ARTISAN_DECODER)
    if bundle.is_present(PREFILL_DECODE) or not bundle.is_present(ARTISAN_DECODER):
        text = "terminating due to uncaught exception of type std::bad_cast: std::bad_cast"
        hint = (
            "for the backend gpu_artisan, the bundle must have this section, and must not have the section tf_lite_prefill_decode"
        )
        raise Stopped(Stop("artisan-section", text, section=section, hint=hint, is_crash=True))
    place = bundle.models[ARTISAN_DECODER]
    begin = place.begin - place.begin % PAGE
    size = -(-(place.end - begin) // PAGE) * PAGE
    whole = len(bundle.content)
    if begin + size > whole:
        text = (
            f"Length ({size}) and offset ({begin}) are too large for file size ({whole}) and the file size is not a multiple of "
            f"the OS alignment requirement ({PAGE}). The file might not have enough padding."
        )
        hint = f"pad the file to a multiple of {PAGE} bytes"
        raise Stopped(Stop("artisan-padding", text, section=section, hint=hint))
    try:
        model = readable_model(bundle, ARTISAN_DECODER, ENGINE, progress.release)
    except Stopped as stopped:
        text = "model Error building tflite model."
        raise Stopped(Stop("model-flatbuffer", text, section=section, hint=stopped.stop.hint)) from stopped
    if model is None or _PARAMETERS not in model.metadata:
        text = f"NOT_FOUND: Failed to get metadata: {_PARAMETERS}"
        raise Stopped(Stop("artisan-metadata", text, section=section, hint="use the model with another backend"))
    progress.notes.append("the kernels of the backend gpu_artisan are not simulated")
