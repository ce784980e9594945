"""Write ``docs/appendix/model-types.md`` and ``docs/appendix/npu-types.md``: delegated shares by converter settings.

Run by ``make model-types``, over the converted models of ``../shared``.
"""

from __future__ import annotations

import gzip
import json
import re
import statistics
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import delegate_sim
from delegate_sim.delegates.registry import DELEGATE_NAMES, PLUGIN_NAMES
from delegate_sim.model.model import Model
from tools.docs.sections import with_section

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
MODELS = CORPUS / "keras.zip"
PROVENANCE = CORPUS / "keras-provenance.json.gz"
DOCUMENT = ROOT / "docs" / "appendix" / "model-types.md"
PLUGINS_PAGE = ROOT / "docs" / "appendix" / "npu-types.md"
DELEGATES = tuple(name for name in DELEGATE_NAMES if name not in PLUGIN_NAMES)
DEFAULTS = "benchmark"


class ModelType(NamedTuple):
    """A row: the settings of the converter (as the provenance names them) and what shows that they had an effect."""

    name: str
    settings: str
    tensor_types: tuple[str, ...] = ()
    """A model counts if a tensor was made one of these types; none for models that need no such tensor."""


FLOAT = ModelType("float", "f32 f32_unfold dus nofuse bufoff toco v1_toco_float")
FLOAT16 = ModelType("float16 weights", "f16 f16_unfold", ("FLOAT16",))
DYNAMIC_RANGE = ModelType("dynamic range", "dyn dyn_old dyn_pertensor dyn_unfold", ("INT8",))
FULL_INTEGER = ModelType(
    "int8",
    "int8 int8_densept int8_oldq int8_pertensor int8_strict int8_unfold int8io uint8io varq",
    ("INT8", "UINT8"),
)
QUANTIZATION_AWARE = ModelType("quantization-aware (TensorFlow 1)", "v1_float v1_int8 v1_uint8 v1_toco_uint8", ("INT8", "UINT8"))
INT16X8 = ModelType("int16x8", "int16x8", ("INT16",))
MODEL_TYPES = (FLOAT, FLOAT16, DYNAMIC_RANGE, FULL_INTEGER, QUANTIZATION_AWARE, INT16X8)

_TYPE_OF = {setting: kind for kind in MODEL_TYPES for setting in kind.settings.split()}


class Corpus(NamedTuple):
    """The models by type, each once, their names in the same order, and how many files were left out for each cause."""

    models: Mapping[ModelType, Sequence[Model]]
    names: Mapping[ModelType, Sequence[str]]
    total: int
    other_settings: int
    without_effect: Mapping[ModelType, int]
    duplicates: int


class Result(NamedTuple):
    """The result of one delegate for one model."""

    outcome: str
    delegated: int
    nodes: int

    @property
    def share(self) -> float:
        """The share of nodes delegated, in per cent."""
        return 100 * self.delegated / self.nodes if self.nodes else 0.0


def read_corpus() -> Corpus:
    """Sort the converted models by type."""
    with gzip.open(PROVENANCE) as file:
        provenance = json.load(file)
    models: dict[ModelType, list[Model]] = {kind: [] for kind in MODEL_TYPES}
    chosen: dict[ModelType, list[str]] = {kind: [] for kind in MODEL_TYPES}
    without_effect: dict[ModelType, int] = defaultdict(int)
    other_settings = duplicates = 0
    seen: set[tuple[ModelType, str]] = set()
    with zipfile.ZipFile(MODELS) as archive:
        names = archive.namelist()
        for name in names:
            kind = _TYPE_OF.get(setting(provenance[name]["converter_flags"]))
            if kind is None:
                other_settings += 1
                continue
            model = delegate_sim.load(archive.read(name))
            if not shows_effect(model, kind):
                without_effect[kind] += 1
            elif (kind, model.sha256) in seen:
                duplicates += 1
            else:
                seen.add((kind, model.sha256))
                models[kind].append(model)
                chosen[kind].append(name)
    return Corpus(models, chosen, len(names), other_settings, without_effect, duplicates)


def setting(converter_flags: str) -> str:
    """Return the name of the converter's setting, from the function that made it: ``def v_int8(c, rep): ...`` is int8."""
    match = re.match(r"(?:def v_)?(\w+)", converter_flags)
    return match[1] if match else ""


def shows_effect(model: Model, kind: ModelType) -> bool:
    """Whether the converter did what it was asked for: it leaves small weights as they are, for example."""
    types = kind.tensor_types
    return not types or any(
        tensor.type in types and (tensor.type == "FLOAT16" or tensor.scale != 0 or tensor.is_per_channel)
        for subgraph in model.subgraphs
        for tensor in subgraph.tensors
    )


def apply(model: Model, delegate: str) -> tuple[Result, dict[str, Any]]:
    """Apply a delegate as benchmark_model does; return what it does and its options."""
    run = delegate_sim.analyze(model, delegate, defaults=DEFAULTS).to_dict()["runs"][0]
    delegated, nodes = (sum(graph[key] for graph in run["subgraphs"]) for key in ("nodes_delegated", "nodes_total"))
    return Result(run["outcome"], delegated, nodes), {"runtime": run["runtime"], **run["options"]}


def cell(results: Sequence[Result]) -> str:
    """Return the median share, then how many models are delegated as a whole, refused and restored."""
    whole = sum(result.nodes > 0 and result.delegated == result.nodes for result in results)
    refused, restored = (sum(result.outcome == outcome for result in results) for outcome in ("refused", "restored"))
    return f"{int(statistics.median(result.share for result in results))} %; {whole} / {refused} / {restored}"


def document(corpus: Corpus) -> str:
    """Return the whole document."""
    lines, options = table(corpus, DELEGATES)
    return "\n".join([*_introduction(corpus), *lines, "", *_options(options), "", *_left_out(corpus), ""])


def table(corpus: Corpus, names: Sequence[str]) -> tuple[list[str], Mapping[str, Mapping[str, Any]]]:
    """Return a row for each type of models with what delegates do to them, and the options that these had."""
    lines, options = [f"| type | models | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)], {}
    for kind in MODEL_TYPES:
        models = corpus.models[kind]
        results: dict[str, list[Result]] = {name: [] for name in names}
        for model in models:
            for name in names:
                result, options[name] = apply(model, name)
                results[name].append(result)
        cells = [cell(results[name]) if models else "" for name in names]
        lines.append(f"| {kind.name} | {len(models)} | {' | '.join(cells)} |")
    return lines, options


def plugins_page(page: str, corpus: Corpus) -> str:
    """Return the page about compiler plugins with its table remade."""
    lines, _ = table(corpus, PLUGIN_NAMES)
    return with_section(page, "table", "\n".join(lines))


def _introduction(corpus: Corpus) -> Iterator[str]:
    counted = sum(map(len, corpus.models.values()))
    yield "# Types of models and delegates"
    yield ""
    yield f"This page shows how much each delegate takes of {counted} models, by type. TensorFlow 2.15 and 2.21 converted the"
    yield "models from common architectures. Each delegate is simulated alone. `make model-types` makes this page."
    yield ""
    yield 'A cell such as "86 %; 33 / 31 / 8" has four numbers:'
    yield ""
    yield "1. the median share of delegated nodes, rounded down; a refused or restored model has a share of 0 %"
    yield "2. the number of models that are delegated as a whole"
    yield "3. the number of models that are refused"
    yield "4. the number of models that are restored"
    yield ""


def _options(options: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "## Options"
    yield ""
    yield "The delegates have the defaults of benchmark_model:"
    yield ""
    for name, values in options.items():
        shown = [f"`{key}={json.dumps(value)}`" for key, value in values.items() if value not in (None, [])]
        yield f"- {name}: {', '.join(shown)}"


def _left_out(corpus: Corpus) -> Iterator[str]:
    yield "## Models"
    yield ""
    for kind in MODEL_TYPES:
        yield f"- {kind.name}: converter settings {', '.join(f'`{name}`' for name in kind.settings.split())}"
    yield ""
    yield f"There are {corpus.total} converted files. These files are left out:"
    yield ""
    yield f"- {corpus.other_settings} files with operators of TensorFlow or StableHLO, or with custom operators"
    yield f"- {corpus.duplicates} files that are equal to another file of their type"
    for kind, number in corpus.without_effect.items():
        types = " or ".join(kind.tensor_types)
        yield f"- {number} files with settings for {kind.name}, but without a tensor that is quantized to {types}"


def main() -> int:
    """Write the document."""
    for path in (MODELS, PROVENANCE):
        if not path.is_file():
            print(f"error: {path} is missing: the converted models are not part of this repository", file=sys.stderr)
            return 2
    corpus = read_corpus()
    DOCUMENT.write_text(document(corpus), encoding="utf-8")
    PLUGINS_PAGE.write_text(plugins_page(PLUGINS_PAGE.read_text(encoding="utf-8"), corpus), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
