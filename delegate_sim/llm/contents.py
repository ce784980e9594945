"""Read the contents of a bundle: its sections, constraints and signatures, and the memory for weights and caches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..bundles.litertlm import CONSTRAINT, MODEL_TYPE, Section, section_names
from ..bundles.opening import open_source
from ..bundles.ranged import Content
from ..errors import LimitError, ModelError
from ..foundation.columns import INTEGER, LIST, OBJECT, Column, Declared, attributes
from ..foundation.limits import naming_model
from ..foundation.work_budget import spend_steps, work_budget
from ..model.model import Model
from ..model.precompiled import precompiled
from ..model.reader import load
from .bundle import HF_TOKENIZER, LLM_METADATA, SP_TOKENIZER, checked_header
from .sections.metadata import LlmMetadata, ProtobufError, read_llm_metadata
from .signatures import cache_roots, dimensions, input_tensor, prefill_signatures, roles_of

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
