"""Pushes places of a file to their edges, and makes graphs that no converter would write."""

from __future__ import annotations

import functools
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from delegate_sim.model import schema
from fixtures.builder import ModelBuilder
from tools.fuzz import sites
from tools.fuzz.networks import LARGE, long_network, network
from tools.fuzz.sites import Site

_EDGES = (
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 1023, 1024, 4095,
    4096, 32767, 32768, 65535, 65536, 1 << 20, 1 << 24, (1 << 24) - 1, (1 << 30), (1 << 31) - 1, 1 << 31, (1 << 32) - 1,
    (1 << 63) - 1, 1 << 63, (1 << 64) - 1, -1, -2, -3, -4, -5, -128, -129, -32768, -(1 << 31), -(1 << 63),
)  # fmt: skip
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e-30, 3.4e38, -3.4e38, float("inf"), float("-inf"), float("nan"))
_NAMES = (
    "moe", "", "\x1b[31mred\x1b[0m", "::error::no", "##[error]", "<b>|`*_", "a\nb", "=1+1", "\u202e",
    "TFLite_Detection_PostProcess", "MaxPoolingWithArgmax2D", "MaxUnpooling2D", "Resampler",
    "Convolution2DTransposeBias", "odml.rms_norm", "FlexAddV2",
)  # fmt: skip


def seeds(further: Sequence[Path]) -> list[bytes]:
    """Return the models that mutants are made of: the small models of the project and of further folders."""
    folders = (Path("fixtures/models"), Path("tests/hostile"), *further)
    paths = sorted(path for folder in folders for path in folder.rglob("*.tflite"))
    return [path.read_bytes() for path in paths if path.stat().st_size <= 1 << 16]


_LARGE = 0.01
"""Share of mutants with many nodes: one takes as long as a hundred others."""


def mutant(generator: random.Random, seeds: Sequence[bytes]) -> bytes:
    """Return a changed file, or a new one; the same generator gives the same."""
    return mutant_and_original(generator, seeds)[0]


def mutant_and_original(generator: random.Random, seeds: Sequence[bytes]) -> tuple[bytes, bytes]:
    """Return a mutant and its original, which is the mutant itself if it is new."""
    if generator.random() < _LARGE:
        content = generator.choice((large_model, long_network))(generator)
        return content, content
    choice = generator.random()
    if choice < 0.6:
        content = random_model(generator) if choice < 0.3 else network(generator)
        return mutated(generator, content) if generator.random() < 0.2 else content, content
    content = generator.choice(seeds)
    if choice < 0.75:
        return pushed_together(generator, content), content
    return mutated(generator, content), content


@functools.lru_cache(maxsize=1024)
def _kept_sites(content: bytes) -> dict[str, list[Site]]:
    by_kind: dict[str, list[Site]] = {}
    for site in sites.sites(content):
        by_kind.setdefault(site.kind, []).append(site)
    return by_kind


_WEIGHTS = {sites.OFFSET: 2, sites.VTABLE: 3, sites.LENGTH: 5, sites.NUMBER: 8, sites.ELEMENT: 8, sites.BYTE: 3}


def mutated(generator: random.Random, content: bytes) -> bytes:
    """Change one to eight places; most keep the file readable, so that what comes after the reader is reached as well."""
    by_kind = _kept_sites(content)
    kinds = [kind for kind in _WEIGHTS if kind in by_kind]
    changed = bytearray(content)
    for _ in range(generator.choice((1, 1, 1, 2, 2, 3, 5, 8))):
        (kind,) = generator.choices(kinds, [_WEIGHTS[kind] for kind in kinds])
        site = generator.choice(by_kind[kind])
        alike = [other for other in by_kind[kind] if other.field == site.field]
        _change(generator, changed, site, alike)
    if generator.random() < 0.02:
        del changed[generator.randrange(len(changed)) :]
    return bytes(changed)


_SIZES = ("Tensor.shape", "Tensor.shape_signature")
_COUNTS = (0, 1, 2, 255, 4096)


def pushed_together(generator: random.Random, content: bytes) -> bytes:
    """Replace one size by another where it stands, take the elements of these tensors, and change all scales and axes."""
    by_kind = _kept_sites(content)
    changed = bytearray(content)
    sizes = [site for site in by_kind[sites.ELEMENT] if site.field in _SIZES]
    if not sizes:
        return content
    old = _value(content, generator.choice(sizes))
    new = generator.choice(generator.choice((LARGE, _EDGES)))
    alike = [site for site in sizes if _value(content, site) == old]
    if generator.random() < 0.5:
        alike = generator.sample(alike, generator.choice((1, (len(alike) + 1) // 2)))
    for site in alike:
        _write(changed, site, new)
    tables = {site.table for site in alike}
    axis = generator.choice(_EDGES)
    keeps_elements, keeps_axes = generator.random() < 0.6, generator.random() < 0.5
    for site in by_kind[sites.NUMBER]:
        if site.field == "Tensor.buffer" and site.table in tables and not keeps_elements:
            _write(changed, site, 0)
        elif site.field == "QuantizationParameters.quantized_dimension" and not keeps_axes:
            _write(changed, site, axis)
    for name, element in (("scale", struct.pack("<f", 0.5)), ("zero_point", bytes(8))):
        if generator.random() < 0.5:
            vector = _appended(changed, element, generator.choice((*_COUNTS, min(max(new, 0), 1 << 14))))
            for site in by_kind[sites.OFFSET]:
                if site.field == f"QuantizationParameters.{name}":
                    _write(changed, site, vector - site.position)
    return bytes(changed)


def _appended(content: bytearray, element: bytes, count: int) -> int:
    """Append a vector and return its position; its elements are aligned to 8 bytes."""
    content += bytes(-(len(content) + 4) % 8)
    position = len(content)
    content += struct.pack("<I", count) + element * count
    return position


def _value(content: bytes | bytearray, site: Site) -> Any:
    return struct.unpack_from(site.format, content, site.position)[0]


def _write(content: bytearray, site: Site, number: int) -> None:
    """Write the low bytes of an integer."""
    width = struct.calcsize(site.format)
    content[site.position : site.position + width] = (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def _change(generator: random.Random, content: bytearray, site: Site, alike: Sequence[Site]) -> None:
    old = _value(content, site)
    if site.format[-1] in "fd":
        new: Any = generator.choice(_FLOATS)
    elif generator.random() < 0.35:
        # What stands at another place of the same kind: another table, operand, type or shape.
        other = generator.choice(alike)
        new = _value(content, other)
        if site.kind == sites.OFFSET:
            new += other.position - site.position
    elif site.kind == sites.LENGTH and generator.random() < 0.7:
        new = generator.choice((0, 1, max(old - 1, 0), old // 2, old + 1))
    else:
        new = generator.choice((old - 1, old + 1, *_EDGES))
    if site.format[-1] in "fd":
        struct.pack_into(site.format, content, site.position, new)
    else:
        _write(content, site, int(new))


@functools.cache
def _operators() -> tuple[str, ...]:
    return tuple(name for name in schema.enum_names("BuiltinOperator").values() if name != "CUSTOM")


_TYPES = (
    "FLOAT32", "FLOAT32", "FLOAT32", "FLOAT32", "INT8", "UINT8", "INT32", "INT64", "BOOL", "FLOAT16", "INT16", "STRING", "INT4",
    "RESOURCE", "FLOAT64", "COMPLEX64", "VARIANT", "UINT32",
)  # fmt: skip
_ELEMENTS = {"FLOAT32": 4, "INT8": 1, "UINT8": 1, "INT32": 4, "INT64": 8, "BOOL": 1, "FLOAT16": 2, "INT16": 2, "FLOAT64": 8}


def random_model(generator: random.Random) -> bytes:
    """Return a model of a few nodes whose operands, types, shapes, constants and options are anything that the format can say."""
    builder = ModelBuilder()
    graphs = [builder.subgraph(generator.choice(("main", "body", *_NAMES))) for _ in range(generator.choice((1, 1, 1, 2, 3)))]
    for graph in graphs:
        tensors = [_tensor(generator, graph, number) for number in range(generator.randrange(1, 9))]
        ops = generator.choices(_operators(), k=generator.randrange(1, 5))
        for op in ops:
            for _ in range(generator.choice((1, 1, 2))):
                _node(generator, graph, op, tensors)
        given = [index for index in tensors if generator.random() < 0.4]
        graph.inputs(*given[:4])
        graph.outputs(*[index for index in tensors if generator.random() < 0.4][:4])
    content: bytes = builder.bytes()
    return content


def large_model(generator: random.Random) -> bytes:
    """Return a model of many nodes of a few operators; all may have the same long name and the same large operands."""
    builder = ModelBuilder()
    graph = builder.subgraph("s" * generator.choice((1, 1000, 100_000)))
    shared = [_tensor(generator, graph, number) for number in range(generator.randrange(1, 6))]
    shared.append(graph.tensor("n" * generator.choice((1, 300, 3_000, 100_000)), "FLOAT32", (1, 4)))
    values = [generator.randrange(-2, 4) for _ in range(generator.choice((1, 4, 1_000, 65_536)))]
    shared.append(graph.tensor("values", "INT32", (len(values),), data=values))
    custom = "C" * generator.choice((1, 300, 3_000, 100_000))
    ops = generator.choices(_operators(), k=generator.choice((1, 3, 10)))
    own: list[int] = []
    for number in range(generator.choice((50, 300, 300, 2_000))):
        own.append(
            _tensor(generator, graph, number) if generator.random() < 0.3 else graph.tensor(f"t{number}", "FLOAT32", (1, 4))
        )
        tensors = generator.choices(shared, k=2) + own[-4:]
        if generator.random() < 0.1:
            graph.node("ADD", tensors[:2], own[-1:], custom=custom)
        else:
            _node(generator, graph, generator.choice(ops), tensors)
    graph.inputs(*shared[:2])
    graph.outputs(*own[-2:])
    content: bytes = builder.bytes()
    return content


def _shape(generator: random.Random) -> list[int]:
    usual = (1, 1, 2, 3, 4, 4, 8, 16)
    rank = generator.choice((0, 1, 1, 2, 2, 3, 4, 4, 4, 5, 6, 9))
    shape = [generator.choice(usual) for _ in range(rank)]
    if shape and generator.random() < 0.15:
        shape[generator.randrange(rank)] = generator.choice((0, -1, 1 << 16, (1 << 31) - 1, 7))
    return shape


def _tensor(generator: random.Random, graph: Any, number: int) -> int:
    kind, shape = generator.choice(_TYPES), _shape(generator)
    fields: dict[str, Any] = {}
    count = 1
    for size in shape:
        count *= max(size, 0)
    if generator.random() < 0.4 and kind in _ELEMENTS and count < 4096:
        values = generator.choice((0, 1, 2, 3, -1, -2, 5, (1 << 31) - 1))
        size = generator.choice((count, count, count, count, max(count - 1, 0), 0, 1))
        width = _ELEMENTS[kind]
        fields["data"] = (values & ((1 << 8 * width) - 1)).to_bytes(width, "little") * size
        if generator.random() < 0.3:
            fields["data"] = generator.randbytes(size * width)
    if kind in ("INT8", "UINT8", "INT16", "INT32", "INT4") and generator.random() < 0.7:
        channels = generator.choice((0, 1, 1, 1, 2, max(shape[-1:] or [1])))
        channels = min(max(channels, 0), 64)
        fields["scale"] = [generator.choice((0.5, 1.0, *_FLOATS)) for _ in range(channels)]
        fields["zero_point"] = [generator.choice((0, 0, 3, -1, 1 << 40)) for _ in range(generator.choice((channels, 1)))]
    if generator.random() < 0.1:
        fields["signature"] = [generator.choice((-1, size)) for size in shape]
    name = generator.choice(_NAMES) if generator.random() < 0.1 else f"t{number}"
    index: int = graph.tensor(name, kind, shape, **fields)
    return index


def _node(generator: random.Random, graph: Any, op: str, tensors: Sequence[int]) -> None:
    operands = (-1, *tensors, *tensors, *tensors)
    inputs = generator.choices(operands, k=generator.choice((0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 20, 24)))
    outputs = generator.choices(tensors, k=generator.choice((0, 1, 1, 1, 1, 1, 2, 3)))
    version = generator.choice((1, 1, 1, 2, 3, 4, 5, 6, 9, 12, 0, -1, (1 << 31) - 1))
    options = None
    table = schema.options_table(op)
    if table and generator.random() < 0.8:
        options = {
            field.name: _option(generator, field)
            for field in schema.table_fields(table).values()
            if field.format is not None and generator.random() < 0.7
        }
    if generator.random() < 0.1:
        graph.node(op, inputs, outputs, version, custom=generator.choice(_NAMES))
    else:
        graph.node(op, inputs, outputs, version, options)


def _option(generator: random.Random, field: schema.Field) -> Any:
    assert field.format is not None
    kind = field.format[-1]
    if kind == "?":
        return generator.random() < 0.5
    if kind in "fd":
        return generator.choice((0.0, 1.0, 0.5, -1.0, float("inf"), float("nan")))
    bits = 8 * struct.calcsize(field.format)
    value = generator.choice((0, 1, 1, 2, 2, 3, 4, -1, -2, 7, (1 << (bits - 1)) - 1))
    return value if kind.islower() else value & ((1 << bits) - 1)
