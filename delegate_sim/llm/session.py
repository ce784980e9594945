"""The checks of a session: stop tokens, the encoders of images and sound, the prompt, and decoding.

Source: google-ai-edge/LiteRT-LM, ``runtime/engine/engine_settings.cc``. In ``runtime/executor``:
``vision_litert_compiled_model_executor.cc``, ``audio_litert_compiled_model_executor.cc`` and
``llm_litert_compiled_model_executor.cc``.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..model.model import Model, Signature
from . import bundle
from .compiled import StoppedWhileCompiling, compile_for_cpu, compile_for_gpu
from .contents import CONVOLUTION_CACHE, DECODE, dimensions, input_tensor, starting_with
from .executor import EmbeddingSizes, Executor, allocate
from .progress import EngineProgress
from .report import DECODE as DECODE_STAGE
from .report import DONE, SESSION, Stop, Stopped
from .report import PREFILL as PREFILL_STAGE
from .sections import Tokenizer

PROMPT_TOKENS = 12
"""The number of tokens of the default prompt, including the start token."""
_SECTION = bundle.section_name(bundle.PREFILL_DECODE)
_CHANNELS = (3, 4)
_AUDIO_INPUTS = ("src_inputs", "audio")


def open_session(progress: EngineProgress) -> None:
    """Create a session. Raises Stopped."""
    if progress.metadata is not None and not progress.metadata.stop_tokens:
        text = (
            "INVALID_ARGUMENT: Stop tokens are required. Either set the stop token ids or provide a valid stop token in the "
            "model file/engine settings."
        )
        hint = "add stop_tokens to the bundle's LlmMetadata"
        raise Stopped(Stop("stop-tokens", text, SESSION, "LlmMetadataProto", hint=hint))
    vision, audio = progress.options.get("vision"), progress.options.get("audio")
    if vision:
        _open_vision(progress, str(vision).upper())
    if audio:
        _open_audio(progress, str(audio).upper())


def generate(progress: EngineProgress, executor: Executor, tokenizer: Tokenizer) -> None:
    """Simulate reading a prompt and generating tokens. Raises Stopped."""
    count = _prompt_tokens(progress, tokenizer)
    if not count:
        return
    most = executor.context if not executor.is_dynamic else progress.max_num_tokens
    most = min(most, progress.max_num_tokens)
    if count >= most:
        text = (
            f"INVALID_ARGUMENT: Input token ids are too long. Exceeding the maximum number of tokens allowed: {count} >= {most}"
        )
        hint = "export the decoder with an input named mask; the last size of the mask must exceed the number of prompt tokens"
        raise Stopped(Stop("prompt-length", text, PREFILL_STAGE, _SECTION, hint=hint))
    if executor.is_dynamic:
        groups = [signature for signature in executor.model.signatures if signature.key == "prefill"]
    else:
        groups = _work_groups(executor.prefills, count, executor.context, is_greedy=progress.backend == bundle.CPU)
    runs = _FirstRuns(progress, executor)
    # The last token of the prompt waits for the next run, so a prompt of one token runs no prefill signature.
    for signature in groups if count > 1 else ():
        _check_embeddings(executor, signature)
        if any(name.startswith(CONVOLUTION_CACHE) for name in executor.caches):
            text = f"Failed to run prefill: the caches named {CONVOLUTION_CACHE}N are no caches of keys and values"
            raise Stopped(Stop("cache-names", text, PREFILL_STAGE, _SECTION, signature.key))
        runs.run(signature, PREFILL_STAGE)
    _check_decode(progress, executor)
    runs.run(executor.decode, DECODE_STAGE)


def _prompt_tokens(progress: EngineProgress, tokenizer: Tokenizer) -> int:
    prompt = progress.options.get("prompt")
    if not isinstance(prompt, str):
        return PROMPT_TOKENS
    if not prompt:
        return 0
    count = tokenizer.count(prompt)
    if count is None:
        progress.notes.append(f"the prompt is assumed to have {PROMPT_TOKENS} tokens, because its tokens cannot be counted")
        return PROMPT_TOKENS
    has_start = progress.metadata is not None and progress.metadata.has_start_token
    return count + has_start


def _work_groups(prefills: Mapping[int, Signature], count: int, room: int, *, is_greedy: bool) -> list[Signature]:
    lengths = sorted([length for length in prefills if length <= room], reverse=True)
    if not lengths:
        text = f"FAILED_PRECONDITION: Chosen prefill work group size exceeds available state entries ({room})."
        hint = "export a prefill signature with at most as many tokens as the caches can hold"
        raise Stopped(Stop("prefill-length", text, PREFILL_STAGE, _SECTION, next(iter(prefills.values())).key, hint=hint))
    groups, left = list[Signature](), room
    for number, length in enumerate(lengths):
        if count <= 0 or length > left:
            continue
        chunks = min(count // length, left // length)
        # bounded: the prompt is at most _LONGEST_PROMPT
        groups += [prefills[length]] * chunks
        left -= chunks * length
        count -= chunks * length
        following = lengths[number + 1] if number + 1 < len(lengths) else 0
        if not count or (following and is_greedy):
            continue
        if following and following * 2 >= length and count <= following:
            continue
        if length <= left and (not following or count * 2 >= length):
            groups.append(prefills[length])
            left -= length
            count = 0
    if count > 0:
        text = f"Prefill input length exceeds available state entries (remaining capacity: {room})."
        raise Stopped(Stop("prefill-length", text, PREFILL_STAGE, _SECTION))
    return groups


class _FirstRuns:
    """The first runs of the decoder's signatures. A first run on the CPU allocates tensors and inlines composites."""

    def __init__(self, progress: EngineProgress, executor: Executor) -> None:
        self._progress, self._executor = progress, executor
        self._seen = set(executor.allocated)

    def run(self, signature: Signature, stage: str) -> None:
        if self._progress.backend == bundle.GPU or signature.subgraph in self._seen:
            return
        self._seen.add(signature.subgraph)
        allocate(self._progress, self._executor.compiled, signature, stage)


def _check_embeddings(executor: Executor, signature: Signature) -> None:
    roles = executor.roles
    wanted = (
        (roles.embeddings if not roles.tokens else None, executor.embedding, "embedder", "No embeddings found in inputs."),
        (
            roles.per_layer_embeddings,
            executor.per_layer_embedding,
            "per_layer_embedder",
            "No per-layer embeddings found in inputs.",
        ),
    )
    for name, embedding, model_type, text in wanted:
        if name is None:
            continue
        section = bundle.section_name(model_type)
        if embedding is None:
            hint = f"add a section {section} that is a valid model"
            raise Stopped(Stop("embeddings", text, PREFILL_STAGE, section, signature.key, hint=hint))
        _check_width(executor.model, signature, name, embedding, section)


def _check_width(model: Model, signature: Signature, name: str, embedding: EmbeddingSizes, section: str) -> None:
    tensor = input_tensor(model, signature, name)
    sizes = () if tensor is None else dimensions(tensor)[2:]
    for number, (wanted, given) in enumerate(zip(sizes, embedding, strict=False), 2):
        if wanted != given:
            text = (
                "The output tensor from the Embedding model must be have the same dimensions as the requested tensor for dims "
                f"> 1. Requested tensor dim for {number}: {wanted}. Output tensor dims: {given}"
            )
            hint = "export the embedder and the decoder with embeddings of the same size"
            raise Stopped(Stop("embeddings", text, PREFILL_STAGE, section, signature.key, hint=hint))


def _check_decode(progress: EngineProgress, executor: Executor) -> None:
    model, decode = executor.model, executor.decode
    nodes = model.subgraphs[decode.subgraph].nodes
    parameters = decode.inputs.get(executor.roles.parameters or "")
    if progress.backend == bundle.GPU and parameters is not None and not any(parameters in node.inputs for node in nodes):
        text = "INTERNAL: INTERNAL: Unsupported tensor storage type"
        hint = "remove the input param_tensor, because the graph does not use it"
        raise Stopped(Stop("unused-parameters", text, DECODE_STAGE, _SECTION, DECODE, hint=hint))
    if executor.is_dynamic:
        return
    for name, kept in executor.caches.items():
        own = input_tensor(model, decode, name)
        if own is None or own.shape == kept.shape:
            continue
        if own.shape_signature is not None:
            text = "the caches have dynamic sizes in decode, but not in prefill: the engine writes outside its memory"
            stage = DECODE_STAGE if progress.backend == bundle.GPU else DONE
            hint = "export both signatures with the same sizes"
            raise Stopped(Stop("cache-sizes", text, stage, _SECTION, DECODE, hint=hint, is_crash=True))
        text = f"Cannot auto-resize tensor {name}: no dims_signature exists"
        hint = "export prefill and decode with caches of the same size"
        raise Stopped(Stop("cache-sizes", text, DECODE_STAGE, _SECTION, DECODE, hint=hint))


def _open_vision(progress: EngineProgress, backend: str) -> None:
    encoder = _encoder(progress, bundle.VISION_ENCODER)
    adapter = bundle.readable_model(progress.bundle, bundle.VISION_ADAPTER, SESSION, progress.release)
    _compile(progress, bundle.VISION_ENCODER, encoder, backend)
    if adapter is not None:
        _compile(progress, bundle.VISION_ADAPTER, adapter, bundle.CPU)
    sizes = _first_input(encoder)
    if len(sizes) == 4 and sizes[3] not in _CHANNELS:
        text = f"FAILED_PRECONDITION: Expected encoder input tensor to have 3 or 4 channels but got {sizes[3]}"
        hint = "export the image encoder with three or four channels in the last dimension"
        raise Stopped(Stop("vision-input", text, SESSION, bundle.section_name(bundle.VISION_ENCODER), hint=hint))
    if len(sizes) not in (3, 4):
        text = f"Expected encoder input tensor to have 3 or 4 dimensions but got {len(sizes)}"
        raise Stopped(Stop("vision-input", text, SESSION, bundle.section_name(bundle.VISION_ENCODER)))


def _open_audio(progress: EngineProgress, backend: str) -> None:
    encoder = _encoder(progress, bundle.AUDIO_ENCODER)
    _compile(progress, bundle.AUDIO_ENCODER, encoder, backend)
    names = list(encoder.signatures[0].inputs) if encoder.signatures else []
    if not any(starting_with(names, name) for name in _AUDIO_INPUTS):
        text = "INVALID_ARGUMENT: The Audio Static Encoder model must have a src_inputs or audio input buffer."
        hint = "give the input of the encoder the name src_inputs or audio"
        raise Stopped(Stop("audio-input", text, SESSION, bundle.section_name(bundle.AUDIO_ENCODER), hint=hint))
    adapter = bundle.readable_model(progress.bundle, bundle.AUDIO_ADAPTER, SESSION, progress.release)
    if adapter is None:
        section = bundle.section_name(bundle.AUDIO_ADAPTER)
        raise Stopped(Stop("audio-section", f"{section} not found in the model.", SESSION, section))
    _compile(progress, bundle.AUDIO_ADAPTER, adapter, bundle.CPU)
    progress.notes.append("in the audio models, only the name of the encoder's input is checked")


def _encoder(progress: EngineProgress, model_type: str) -> Model:
    model = bundle.readable_model(progress.bundle, model_type, SESSION, progress.release)
    if model is None:
        section = bundle.section_name(model_type)
        hint = "add the section to the bundle, or do not request this kind of input"
        raise Stopped(Stop("encoder-section", f"NOT_FOUND: {section} not found in the model.", SESSION, section, hint=hint))
    return model


def _compile(progress: EngineProgress, model_type: str, model: Model, backend: str) -> None:
    section = bundle.section_name(model_type)
    if backend == bundle.GPU:
        try:
            compiled = compile_for_gpu(section, model, SESSION, is_whole=False, release=progress.release)
        except StoppedWhileCompiling as stopped:
            progress.add(stopped.compiled)
            raise
    else:
        compiled = compile_for_cpu(section, model, SESSION, release=progress.release)
        if backend == bundle.NPU:
            progress.notes.append(f"without the vendor's compiler, {section} runs on the CPU instead of the NPU")
    progress.add(compiled)


def _first_input(model: Model) -> tuple[int, ...]:
    if model.signatures and model.signatures[0].inputs:
        tensor = input_tensor(model, model.signatures[0], next(iter(model.signatures[0].inputs)))
        return () if tensor is None else dimensions(tensor)
    subgraph = model.subgraphs[0] if model.subgraphs else None
    return dimensions(subgraph.tensors[subgraph.inputs[0]]) if subgraph is not None and subgraph.inputs else ()
