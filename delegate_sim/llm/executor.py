"""The executor of the text decoder: its checks of signatures and names, its compiled model, its caches and its embedders.

Source: google-ai-edge/LiteRT-LM, ``runtime/executor/llm_litert_compiled_model_executor_factory.cc``,
``llm_litert_compiled_model_executor.cc``, ``litert/state.cc``, and ``embedding_lookup_text.cc`` in
``runtime/components/embedding_lookup``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..model.model import Model, Signature, Tensor
from ..releases.catalogue import parse_release
from . import bundle
from .compiled import (
    NOT_ALLOCATED,
    NOT_INVOKED,
    NOT_MODIFIED,
    Compiled,
    StoppedWhileCompiling,
    compile_for_cpu,
    compile_for_gpu,
    first_run,
    not_allocated,
)
from .contents import (
    DECODE,
    PREFILL,
    Roles,
    cache_roots,
    dimensions,
    find_signature,
    input_tensor,
    is_dynamic,
    output_tensor,
    prefill_signatures,
    roles_of,
    starting_with,
)
from .progress import EngineProgress
from .report import ENGINE, Stop, Stopped
from .sections import StateBuffer, read_state_buffers

_SECTION = bundle.section_name(bundle.PREFILL_DECODE)
_KEY_TYPES, _VALUE_TYPES, _GLOBAL_TYPES = (1, 3), (2, 4), (1, 2)
"""The types of state buffers for keys, for values, and for global caches."""
_TOKEN_BYTES = 4
_MOST_ON_GPU = 4096
IN_MEMORY = ":memory"
"""The value of the option ``cache_dir`` for a cache in memory."""
_NAMES_HINT = "rename the inputs and outputs of the signature in the export"

EmbeddingSizes = tuple[int, ...]
"""The shape of one embedding, without the batch and token dimensions."""


@dataclass(frozen=True, slots=True)
class Executor:
    """The executor of the text decoder."""

    model: Model
    compiled: Compiled
    decode: Signature
    roles: Roles
    prefills: Mapping[int, Signature]
    """The prefill signatures, by number of tokens."""
    caches: Mapping[str, Tensor]
    """The states that the engine keeps, by input name. The tensors belong to the first prefill signature."""
    context: int
    """The number of tokens that the caches can hold."""
    is_dynamic: bool
    embedding: EmbeddingSizes | None
    """The embeddings of the embedder, or None if the engine cannot create the embedder."""
    per_layer_embedding: EmbeddingSizes | None
    allocated: frozenset[int] = frozenset()
    """The subgraphs with tensors that the engine allocates before the first run."""


_DECODE_IS_ALLOCATED = parse_release("litert-2.4")
"""The first release with an engine that allocates the tensors of decode when the executor is created."""


def make_executor(progress: EngineProgress) -> Executor:
    """Create the executor. Raises Stopped."""
    model = bundle.readable_model(progress.bundle, bundle.PREFILL_DECODE, ENGINE, progress.release)
    if model is None:
        text = f"{_SECTION} not found in the model."
        hint = "add a section of this model type; if the file is truncated, download it again"
        raise Stopped(Stop("decoder-section", text, section=_SECTION, hint=hint))
    if progress.backend == bundle.NPU and progress.bundle.is_present(bundle.AUX):
        _check_npu(progress, model)
    buffers = read_state_buffers(progress.bundle.bytes_of(bundle.EXECUTOR_METADATA))
    prefills = prefill_signatures(model)
    dynamic = _is_dynamic_by_metadata(model, buffers) if buffers is not None else _is_dynamic_by_names(model, prefills)
    if dynamic and progress.backend != bundle.CPU:
        raise _stopped("dynamic-on-cpu-only", "LlmLiteRtCompiledModelExecutorDynamic only supports CPU backend.", PREFILL)
    if dynamic:
        compiled = _compile(progress, model, Roles())
        decode, roles = _decode(model)
    else:
        decode, roles = _decode(model)
        if not prefills:
            text = "Selected signatures must include decode and an available prefill."
            raise _stopped(
                "prefill-signature", text, None, "give the name 'prefill' or 'prefill_N' to the signature that reads the prompt"
            )
        compiled = _compile(progress, model, roles)
    lengths = {} if dynamic else _prefills_by_length(model, prefills, roles)
    first = find_signature(model, PREFILL) if dynamic else prefills[0]
    if first is None:
        raise _stopped("signature", f"Signature not found: {PREFILL}", PREFILL)
    caches, context = _state(progress, model, first, buffers)
    _check_logits(progress, model, decode, roles, buffers, dynamic)
    allocated = frozenset[int]()
    if not dynamic and progress.backend != bundle.GPU and progress.release.is_at_least(_DECODE_IS_ALLOCATED):
        allocate(progress, compiled, decode, ENGINE, NOT_ALLOCATED)
        allocated = frozenset([decode.subgraph])
    embedding, per_layer_embedding = [
        _embedding(progress, model_type) for model_type in (bundle.EMBEDDER, bundle.PER_LAYER_EMBEDDER)
    ]
    if progress.settings.get("enable_speculative_decoding"):
        _check_drafter(progress, embedding)
    return Executor(model, compiled, decode, roles, lengths, caches, context, dynamic, embedding, per_layer_embedding, allocated)


def allocate(progress: EngineProgress, compiled: Compiled, signature: Signature, stage: str, error: str = NOT_INVOKED) -> None:
    """Allocate the tensors of a signature on the CPU, which also inlines composites. Raises Stopped with the text ``error``."""
    inlined, failure = first_run(compiled, signature.subgraph, is_clustered=progress.is_clustered)
    progress.add_lines(inlined.replacements)
    if failure is not None:
        raise Stopped(not_allocated(inlined, signature.subgraph, failure, stage, signature.key, error=error))


def _check_npu(progress: EngineProgress, model: Model) -> None:
    """Check that the auxiliary model has the mask signatures. A model compiled for an NPU must pass this check first."""
    auxiliary = bundle.readable_model(progress.bundle, bundle.AUX, ENGINE, progress.release)
    assert auxiliary is not None
    section = bundle.section_name(bundle.AUX)
    progress.add(compile_for_cpu(_SECTION, model, ENGINE, is_clustered=progress.is_clustered, release=progress.release))
    progress.add(compile_for_cpu(section, auxiliary, ENGINE, is_clustered=progress.is_clustered, release=progress.release))
    for signature in prefill_signatures(model):
        key = f"prefill_mask_{signature.key.removeprefix('prefill_')}"
        if find_signature(auxiliary, key) is None:
            hint = "add the signature to the auxiliary model: with a decoder compiled for an NPU, the engine needs this signature"
            raise Stopped(Stop("npu-signature", f"Signature not found: {key}", section=section, signature=key, hint=hint))
    progress.notes.append(
        "for the NPU, the simulation ends after the check that the auxiliary model has the signatures prefill_mask_N"
    )


def _is_dynamic_by_metadata(model: Model, buffers: Sequence[StateBuffer]) -> bool:
    for buffer in buffers:
        name = buffer.prefill_input or buffer.decode_input
        if buffer.sequence_axis is None or not name:
            continue
        tensors = [input_tensor(model, signature, name) for signature in model.signatures]
        tensor = next((tensor for tensor in tensors if tensor is not None), None)
        if tensor is None:
            hint = "give the name of an input of a signature"
            raise _stopped("state-buffer", f"Tensor {name} not found in model signatures", None, hint)
        sizes = dimensions(tensor)
        if not 0 <= buffer.sequence_axis < len(sizes):
            text = f"sequence_axis out of bounds: {buffer.sequence_axis} for rank {len(sizes)}"
            raise _stopped("state-buffer", text, None, "give an axis of the tensor")
        if sizes[buffer.sequence_axis] == -1:
            return True
    return False


def _is_dynamic_by_names(model: Model, prefills: Sequence[Signature]) -> bool:
    if not prefills:
        return False
    first = prefills[0]
    roots = cache_roots(first)
    if roots is None:
        raise _stopped("cache-names", "No KV cache inputs found.", first.key, _cache_hint())
    if not any(name.startswith(roots) for name in first.inputs):
        return False
    kinds = list[bool]()
    for root in roots:
        names = starting_with(first.inputs, root)
        if not names:
            raise _stopped("cache-names", f"No cache input tensor found for prefix: {root}", first.key, _cache_hint())
        tensor = input_tensor(model, first, names[0])
        kinds.append(tensor is not None and is_dynamic(tensor))
    if kinds[0] != kinds[1]:
        text = "KV cache k and v need to be dynamic or static at the same time."
        raise _stopped(
            "dynamic-shapes", text, first.key, "export either all caches with dynamic sizes, or all caches with fixed sizes"
        )
    positions = input_tensor(model, first, roles_of(first).positions)
    if positions is None:
        hint = f"{_NAMES_HINT}: the positions must have the name input_pos"
        raise _stopped("positions", "Input tensor not found", first.key, hint)
    if is_dynamic(positions) != kinds[0]:
        text = "KV cache and seq len need to be dynamic or static at the same time."
        raise _stopped(
            "dynamic-shapes",
            text,
            first.key,
            "export positions and caches either all with dynamic sizes, or all with fixed sizes",
        )
    return kinds[0]


def _decode(model: Model) -> tuple[Signature, Roles]:
    decode = find_signature(model, DECODE)
    if decode is None:
        hint = "give the name 'decode' to the signature that reads single tokens"
        raise _stopped("signature", f"Signature not found: {DECODE}", DECODE, hint)
    roles = roles_of(decode)
    checks = (
        (roles.tokens or roles.embeddings, "Input tokens or embeddings not found.", "tokens or embeddings"),
        (roles.positions, "Input positions not found.", "input_pos"),
        (roles.logits, "Output logits not found.", "logits"),
    )
    for given, text, name in checks:
        if not given:
            raise _stopped("decode-names", text, DECODE, f"{_NAMES_HINT}: the engine looks for {name}")
    return decode, roles


def _compile(progress: EngineProgress, model: Model, roles: Roles) -> Compiled:
    if progress.backend != bundle.GPU:
        if progress.settings.get("enable_ynnpack") and progress.backend == bundle.CPU:
            hint = "remove the option enable_ynnpack, because this build of the engine has no YNNPACK"
            raise Stopped(Stop("ynnpack", "Failed to create engine: UNIMPLEMENTED", section=_SECTION, hint=hint))
        compiled = compile_for_cpu(_SECTION, model, ENGINE, is_clustered=progress.is_clustered, release=progress.release)
        progress.add(compiled)
        return compiled
    try:
        compiled = compile_for_gpu(_SECTION, model, ENGINE, is_whole=True, release=progress.release)
    except StoppedWhileCompiling as stopped:
        progress.add(stopped.compiled)
        raise
    if progress.options.get("cache_dir") == IN_MEMORY:
        progress.add_lines(compiled.replacements[:1])
        hint = "give a folder as cache_dir"
        raise Stopped(Stop("cache-in-memory", NOT_MODIFIED, section=_SECTION, hint=hint))
    progress.add(compiled)
    return compiled


def _prefills_by_length(model: Model, prefills: Sequence[Signature], roles: Roles) -> dict[int, Signature]:
    lengths = dict[int, Signature]()
    for signature in prefills:
        positions = input_tensor(model, signature, roles.positions)
        if positions is None:
            raise _stopped(
                "positions",
                "Input tensor not found",
                signature.key,
                f"{_NAMES_HINT}: the positions must have the name {roles.positions}, as in decode",
            )
        sizes = dimensions(positions)
        if len(sizes) not in (1, 2):
            text = "Unsupported input tokens tensor dimension."
            raise _stopped("positions", text, signature.key, "export positions with one or two dimensions")
        lengths[sizes[-1]] = signature
    return lengths


def _state(
    progress: EngineProgress, model: Model, signature: Signature, buffers: Sequence[StateBuffer] | None
) -> tuple[dict[str, Tensor], int]:
    if buffers is not None:
        return _state_by_metadata(model, signature, buffers)
    roots = cache_roots(signature)
    if roots is None:
        raise _stopped("cache-names", "No KV cache inputs found.", signature.key, _cache_hint())
    names = [name for root in dict.fromkeys(roots) for name in starting_with(signature.inputs, root)]
    if progress.backend == bundle.GPU:
        for name in names:
            if name not in signature.outputs:
                hint = "give the output of each cache the same name as its input, as the GPU requires"
                raise _stopped("cache-outputs", f"Output tensor not found: {name}", signature.key, hint)
    caches = {name: tensor for name in names if (tensor := input_tensor(model, signature, name)) is not None}
    masks = [name for name in signature.inputs if "mask" in name]
    mask = input_tensor(model, signature, masks[-1]) if masks else None
    if mask is None:
        return caches, 1
    sizes = dimensions(mask)
    if len(sizes) != 4:
        text = f"RET_CHECK failure ... dims.size() == 4 ({len(sizes)} vs. 4)"
        raise _stopped("mask-rank", text, signature.key, "export the mask with the shape [1, 1, tokens, context]")
    most = progress.max_num_tokens
    return caches, bundle.target_of(sizes[3], min(most, _MOST_ON_GPU) if progress.backend == bundle.GPU else most)


def _state_by_metadata(model: Model, signature: Signature, buffers: Sequence[StateBuffer]) -> tuple[dict[str, Tensor], int]:
    caches, context = dict[str, Tensor](), 0
    for buffer in buffers:
        names = buffer.names
        differing = next((name for name in names if name != names[0]), None)
        if differing is not None:
            text = f"Current implementation requires all state names in StateBuffer to be the same: {names[0]} vs {differing}"
            raise _stopped("state-buffer", text, signature.key, "use the same name for all four names of a state buffer")
        if buffer.sequence_axis is None:
            text = "Sequence axis must be defined for state buffers in the current implementation."
            raise _stopped("state-buffer", text, signature.key, "set sequence_axis")
        if not names:
            raise _stopped("state-buffer", "At least one state name must be defined", signature.key, "give the buffer a name")
        if buffer.type not in (*_KEY_TYPES, *_VALUE_TYPES):
            text = f"Unsupported state buffer type: {buffer.type}"
            raise _stopped("state-buffer", text, signature.key, "use the types of key and value caches")
        tensor = input_tensor(model, signature, names[0])
        if tensor is None:
            raise _stopped("state-buffer", f"Input tensor not found: {names[0]}", signature.key, _NAMES_HINT)
        size = dimensions(tensor)[buffer.sequence_axis]
        if buffer.type in _GLOBAL_TYPES and size != -1:
            context = min(context, size) if context else size
        caches[names[0]] = tensor
    if not caches:
        raise _stopped("state-buffer", "No state buffers found for the current signature", signature.key, _NAMES_HINT)
    return caches, context or 1


def _check_logits(
    progress: EngineProgress, model: Model, decode: Signature, roles: Roles, buffers: Sequence[StateBuffer] | None, dynamic: bool
) -> None:
    logits = output_tensor(model, decode, roles.logits)
    rank = 0 if logits is None else logits.rank
    if rank != 3:
        text = "Output logits must be (batch, seq, vocab)"
        raise _stopped("logits-rank", text, DECODE, "give logits three dimensions")
    assert logits is not None
    batch = dimensions(logits)[0]
    if dynamic and batch != 1:
        raise _stopped("batch", "Only support batch size 1 for now.", DECODE, "export with a batch of 1")
    if batch > 1:
        _state(progress, model, decode, buffers)


def _embedding(progress: EngineProgress, model_type: str) -> EmbeddingSizes | None:
    """Return the sizes of an embedder's embeddings, or None if its model is missing or damaged.

    Embedders always run on the CPU. If the embedder is needed, a later step reports the fault.
    """
    section = bundle.section_name(model_type)
    try:
        model = bundle.readable_model(progress.bundle, model_type, ENGINE, progress.release)
    except Stopped:
        return None
    if model is None or not model.subgraphs:
        return None
    compiled = compile_for_cpu(section, model, ENGINE, release=progress.release)
    progress.add(compiled)
    signature = model.signatures[0] if model.signatures else None
    subgraph = model.subgraphs[signature.subgraph if signature is not None else 0]
    inputs = list(signature.inputs.values()) if signature is not None else list(subgraph.inputs)
    outputs = list(signature.outputs.values()) if signature is not None else list(subgraph.outputs)
    size = subgraph.tensors[inputs[0]].byte_size if inputs else 0
    key = None if signature is None else signature.key
    if size != _TOKEN_BYTES:
        text = f"Input tensor bytes must be {_TOKEN_BYTES} but got {size}"
        hint = "export the embedder with a first signature that reads one token"
        raise Stopped(Stop("embedder-input", text, section=section, signature=key, subgraph=subgraph.index, hint=hint))
    inlined, failure = first_run(compiled, subgraph.index)
    progress.add_lines(inlined.replacements)
    if failure is not None:
        raise Stopped(not_allocated(inlined, subgraph.index, failure, ENGINE, key))
    return dimensions(subgraph.tensors[outputs[0]])[2:] if outputs else ()


def _check_drafter(progress: EngineProgress, embedding: EmbeddingSizes | None) -> None:
    hint = "run without speculative decoding, or add the drafter and its embedder to the bundle"
    if embedding is None:
        text = "embedding_lookup != nullptr"
        raise Stopped(Stop("speculative-decoding", text, section=bundle.section_name(bundle.EMBEDDER), hint=hint))
    section = bundle.section_name(bundle.MTP_DRAFTER)
    if bundle.readable_model(progress.bundle, bundle.MTP_DRAFTER, ENGINE, progress.release) is None:
        raise Stopped(Stop("speculative-decoding", f"{section} not found in the model.", section=section, hint=hint))
    progress.notes.append("the drafter of speculative decoding is not simulated")


def _cache_hint() -> str:
    return f"{_NAMES_HINT}: caches must have the names kv_cache_k_N and kv_cache_v_N, or names in the executor metadata"


def _stopped(check: str, text: str, signature: str | None, hint: str = "") -> Stopped:
    return Stopped(Stop(check, text, section=_SECTION, signature=signature, hint=hint))
