"""Read the contents of a bundle: its sections, constraints and signatures, and the memory for weights and caches.

The inputs and outputs of a decoder have roles by their names.

Source: google-ai-edge/LiteRT-LM, ``runtime/executor/litert_compiled_model_executor_utils.cc``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..bundles.litertlm import CONSTRAINT, MODEL_TYPE, Section, section_names
from ..bundles.opening import open_source
from ..bundles.ranged import Content
from ..errors import LimitError, ModelError
from ..foundation.columns import INTEGER, LIST, OBJECT, Column, Declared, attributes
from ..foundation.limits import naming_model
from ..foundation.work_budget import spend_steps, work_budget
from ..model.model import Model, Signature, Tensor
from ..model.precompiled import precompiled
from ..model.reader import load
from .bundle import HF_TOKENIZER, LLM_METADATA, SP_TOKENIZER, checked_header
from .sections import LlmMetadata, ProtobufError, read_llm_metadata

PREFILL, DECODE = "prefill", "decode"
_ROLES = {
    "tokens": ("token_ids", "tokens"),
    "positions": ("positions", "input_pos"),
    "mask": ("attn_mask", "mask"),
    "local_mask": ("local_mask", "attn_mask_local", "local_attn_mask"),
    "embeddings": ("embeddings",),
    "per_layer_embeddings": ("per_layer_embeddings",),
    "parameters": ("param_tensor",),
}
_LOGITS = "logits"
_CACHES = (("kv_cache_k_", "kv_cache_v_"), ("k_cache_", "v_cache_"))
CONVOLUTION_CACHE = "kv_cache_c_"


@dataclass(frozen=True, slots=True)
class Roles:
    """The name of the input or output with each role, or None if there is none."""

    tokens: str | None = None
    positions: str | None = None
    mask: str | None = None
    local_mask: str | None = None
    embeddings: str | None = None
    per_layer_embeddings: str | None = None
    parameters: str | None = None
    logits: str | None = None


def roles_of(signature: Signature) -> Roles:
    """Return the roles of a signature's inputs and outputs. Inputs without a role are allowed."""
    roles = {role: name for name in signature.inputs for role, names in _ROLES.items() if name in names}
    return Roles(**roles, logits=_LOGITS if _LOGITS in signature.outputs else None)


def cache_roots(signature: Signature) -> tuple[str, str] | None:
    """Return the name prefixes of key caches and value caches, or None if no input or output is a cache."""
    for names in (signature.inputs, signature.outputs):
        for name in names:
            for keys, values in _CACHES:
                if name.startswith(keys):
                    return keys, values
    if any(name.startswith(CONVOLUTION_CACHE) for names in (signature.inputs, signature.outputs) for name in names):
        return CONVOLUTION_CACHE, CONVOLUTION_CACHE
    return None


def prefill_signatures(model: Model) -> tuple[Signature, ...]:
    """Return the signatures with a key that begins with ``prefill``."""
    return tuple([signature for signature in model.signatures if signature.key.startswith(PREFILL)])


def find_signature(model: Model, key: str) -> Signature | None:
    """Return the signature with a key, or None if there is none."""
    return next((signature for signature in model.signatures if signature.key == key), None)


def input_tensor(model: Model, signature: Signature, name: str | None) -> Tensor | None:
    """Return an input of a signature, or None if there is no such input."""
    return None if name is None else _tensor(model, signature, signature.inputs.get(name))


def output_tensor(model: Model, signature: Signature, name: str | None) -> Tensor | None:
    """Return an output of a signature, or None if there is no such output."""
    return None if name is None else _tensor(model, signature, signature.outputs.get(name))


def dimensions(tensor: Tensor) -> tuple[int, ...]:
    """Return the sizes of a tensor, with -1 for each unknown size."""
    return tensor.shape if tensor.shape_signature is None else tensor.shape_signature


def is_dynamic(tensor: Tensor) -> bool:
    """Return whether any size of a tensor is unknown."""
    return -1 in dimensions(tensor)


def starting_with(names: Iterable[str], beginning: str) -> list[str]:
    """Return the names that start with ``beginning``."""
    return [name for name in names if name.startswith(beginning)]


def _tensor(model: Model, signature: Signature, index: int | None) -> Tensor | None:
    if index is None or not 0 <= signature.subgraph < len(model.subgraphs):
        return None
    tensors = model.subgraphs[signature.subgraph].tensors
    return tensors[index] if 0 <= index < len(tensors) else None


_OPAQUE = (SP_TOKENIZER, HF_TOKENIZER)


@dataclass(frozen=True, slots=True)
class ModelContents:
    """The model of a section: its signatures and nodes, the bytes of its weights and caches, and its SoC."""

    signatures: tuple[str, ...]
    nodes: int
    weights: int
    """The bytes of all constants. A constant that several tensors share counts once."""
    caches: int
    """The bytes of the caches that a prefill signature reads, computed from the shapes."""
    context: int | None
    """The largest number of tokens according to the shape of the mask; None if there is no mask, or if its size is unknown."""
    prefill_lengths: tuple[int, ...]
    compiled_for: str
    """The vendor and the SoC; empty if the model was not compiled for an NPU."""


@dataclass(frozen=True, slots=True)
class SectionContents(Declared):
    """One section. ``fault`` is the reason why the section cannot be read; empty if there is none."""

    columns = (
        *(Column("number", INTEGER), *attributes("name", "kind"), *attributes("begin", "end", type=INTEGER)),
        *(Column("constraint"), Column("items", OBJECT, source=lambda section: dict(section.items)), Column("model", OBJECT)),
        *(Column("fault"), Column("size", INTEGER)),
    )

    number: int
    name: str
    kind: str
    begin: int
    end: int
    constraint: str | None
    items: tuple[tuple[str, Any], ...]
    model: ModelContents | None
    fault: str

    @property
    def size(self) -> int:
        """The number of bytes."""
        return max(0, self.end - self.begin)


@dataclass(frozen=True, slots=True)
class BundleContents(Declared):
    """A bundle: its format version, the metadata of the language model, the kind of tokenizer, and its sections."""

    document = "bundle"
    columns = (
        *(Column("path"), Column("size", INTEGER), Column("version", source=lambda own: ".".join(map(str, own.version)))),
        *(Column("metadata", OBJECT), Column("tokenizer"), Column("sections", LIST, parts=SectionContents.columns)),
        *attributes("weights", "caches", type=INTEGER),
    )

    path: str
    size: int
    version: tuple[int, int, int]
    metadata: LlmMetadata | None
    tokenizer: str
    sections: tuple[SectionContents, ...]

    @property
    def weights(self) -> int:
        """The bytes of the weights of all models."""
        return sum([section.model.weights for section in self.sections if section.model is not None])

    @property
    def caches(self) -> int:
        """The bytes of all caches."""
        return sum([section.model.caches for section in self.sections if section.model is not None])


def read_contents(path: str) -> BundleContents:
    """Read the contents of a bundle. Damaged sections have a ``fault``.

    Raises ModelError if the header is damaged, and LimitError if the sections take too much work.
    """
    with work_budget(), naming_model(path):
        return _contents(path)


def _contents(path: str) -> BundleContents:
    content = open_source(path).on_this_computer
    header = checked_header(path, content)
    sections = [
        _section(section, name, content) for section, name in zip(header.sections, section_names(header.sections), strict=True)
    ]
    tokenizers = [section.kind for section in header.sections if section.data_type in _OPAQUE]
    metadata = [section for section in header.sections if section.data_type == LLM_METADATA]
    return BundleContents(
        path,
        len(content),
        header.version,
        _metadata(metadata[-1], content) if metadata else None,
        ", ".join(tokenizers),
        tuple(sections),
    )


def _metadata(section: Section, content: Content) -> LlmMetadata | None:
    spend_steps(section.size, "reading the metadata of the language model")
    try:
        return read_llm_metadata(bytes(content[section.begin : section.end]))
    except ProtobufError:
        return None


def _section(section: Section, name: str, content: Content) -> SectionContents:
    fault, model = "", None
    if not section.begin <= section.end <= len(content):
        fault = f"ends at byte {section.end:,}, but the file has {len(content):,} bytes"
    elif section.is_model:
        try:
            model = _model(load(content[section.begin : section.end]))
        except LimitError:
            raise
        except ModelError as error:
            fault = str(error)
    elif section.data_type == LLM_METADATA and _metadata(section, content) is None:
        fault = "is not a protocol buffer"
    others = tuple([(key, value) for key, value in section.items if key.lower() not in (MODEL_TYPE, CONSTRAINT)])
    shown = name if section.item(MODEL_TYPE) or section.is_model else section.kind
    constraint = section.item(CONSTRAINT)
    return SectionContents(section.number, shown, section.kind, section.begin, section.end, constraint, others, model, fault)


def _model(model: Model) -> ModelContents:
    constants = {
        tensor.data
        for subgraph in model.subgraphs
        for tensor in subgraph.tensors
        if tensor.is_constant and tensor.data is not None
    }
    prefills = prefill_signatures(model)
    caches, context, lengths = 0, None, list[int]()
    for signature in prefills:
        roles, roots = roles_of(signature), cache_roots(signature)
        inputs = {name: input_tensor(model, signature, name) for name in signature.inputs}
        sizes = [tensor.byte_size for name, tensor in inputs.items() if roots and name.startswith(roots) and tensor is not None]
        caches = max(caches, sum(sizes))
        mask = inputs.get(roles.mask or roles.local_mask or "")
        if mask is not None and mask.shape and dimensions(mask)[-1] >= 0:
            context = max(context or 0, dimensions(mask)[-1])
        positions = inputs.get(roles.positions or "")
        if positions is not None and positions.shape:
            lengths.append(dimensions(positions)[-1])
    compiled = precompiled(model)
    return ModelContents(
        tuple([signature.key for signature in model.signatures]),
        sum([len(subgraph.nodes) for subgraph in model.subgraphs]),
        sum([size for _, size in constants]),
        caches,
        context,
        tuple(sorted(lengths)),
        f"{compiled.manufacturer} {compiled.soc}".strip() if compiled.is_compiled else "",
    )
