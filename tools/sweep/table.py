"""Sweep the source models of ``tools.sweep.source_models``, and make the tables of docs/appendix/sweep.md (``make sweep-table``).

``--python`` names the Pythons that have the converters. The result of each model is kept in a file of records, so that a call
that is stopped goes on with the next; conversions are kept in a folder of their own. The model is then diagnosed in float, and
what the diagnosis predicts for the settings that it names is compared with the best row.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from delegate_sim import load
from delegate_sim.conversion.cache import ConversionCache
from delegate_sim.conversion.converters import Converter, find_converters, routes
from delegate_sim.conversion.settings import parse_settings
from delegate_sim.conversion.sources import find_source
from delegate_sim.delegates.options import parse_options
from delegate_sim.delegates.registry import find_delegate
from delegate_sim.diagnosis.advice.converter_settings import settings_for
from delegate_sim.diagnosis.diagnose import diagnose
from delegate_sim.diagnosis.examiner import Cost, Examiner
from delegate_sim.releases.catalogue import NEWEST
from delegate_sim.runtime.target import Target
from delegate_sim.sweeping.sweep import sweep
from delegate_sim.sweeping.sweep_result import SweepRequest, Swept
from delegate_sim_cli.formats.sheets import conversions_markdown
from tools.docs.sections import with_section
from tools.sweep.source_models import MODELS, SourceModel

PAGE = Path(__file__).resolve().parents[2] / "docs" / "appendix" / "sweep.md"
TARGETS: Mapping[str, Mapping[str, Any]] = {
    "nnapi": {"nnapi_runtime": "13"},
    "gpu": {},
    "npu-google": {},
    "vx": {},
    "hexagon": {},
}
"""Delegates with their options; others are those of benchmark_model."""
ALSO: Mapping[str, Sequence[str]] = {"resnet50.keras": ("int8",)}
"""Settings that are tried from the beginning, besides float."""
EXAMPLES = {
    "keras-example": "keras/resnet50.keras",
    "torch-example": "torch/text_encoder.pt2",
    "onnx-example": "onnx/detector.onnx",
}
"""The models that docs/appendix/sweep.md shows in full, by the mark that their tables stand in."""
_ALIKE = 0.005
"""Shares that differ by less agree."""


def targets() -> list[Target]:
    result = []
    for name, given in TARGETS.items():
        delegate = find_delegate(name)
        result.append(Target(delegate, parse_options(name, delegate.options, given, "benchmark"), NEWEST, "benchmark"))
    return result


def record(
    folder: Path, family: str, model: SourceModel, converters: Sequence[Converter], cache: ConversionCache
) -> dict[str, Any]:
    """Sweep one model and say what came of it."""
    source = find_source(str(folder / model.file))
    asked = SweepRequest(tuple(map(parse_settings, ALSO.get(model.file, ()))))
    begin = time.monotonic()
    swept = sweep(source, targets(), routes(source, converters), cache, asked, _show)
    if swept.is_interrupted:
        raise KeyboardInterrupt
    return {
        "model": f"{family}/{model.file}",
        "field": model.field,
        "words": model.words,
        "minutes": round((time.monotonic() - begin) / 60, 1),
        "sweep": swept.to_dict(),
        "foretold": foretold(swept),
        "page": conversions_markdown(swept).replace(f"{folder}/", ""),
    }


def foretold(swept: Swept) -> dict[str, Any]:
    """Return what the diagnosis of the float model says of each target: what is, the settings, and what would be with them."""
    first = next((row for row in swept.models if row.conversion.settings.name == "float"), None)
    if first is None:
        return {}
    model = load(first.conversion.path)
    answers = {}
    for label, target in swept.targets:
        diagnosis = diagnose(model, target)
        asked = [(finding.cause, settings_for(model, target, finding.cause)) for finding in diagnosis.findings]
        causes = [cause for cause, settings in asked if settings]
        without = Examiner(model, target, diagnosis.effort).simulate(diagnosis.blockers.without(causes))
        answers[label] = {
            "now": _cost(diagnosis.now),
            "settings": sorted({setting.value for _, settings in asked for together in settings[:1] for setting in together}),
            "then": _cost(without.cost),
            "others": [cause.name for cause, settings in asked if not settings],
        }
    return answers


def _cost(cost: Cost) -> dict[str, Any]:
    measures = cost.measures
    return {"outcome": measures.outcome, "share": round(cost.multiply_add_share, 4), "kernels": measures.delegate_kernels}


def _show(done: int, left: int, name: str) -> None:
    print(f"  {done} of at least {done + left}: {name}", flush=True)


def run(arguments: argparse.Namespace) -> None:
    """Add to the records, model by model, those that are not there."""
    path = Path(arguments.records)
    known = {entry["model"] for entry in _records(path)}
    converters = find_converters(arguments.python or None)
    with ConversionCache(arguments.cache) as cache, path.open("a", encoding="utf-8") as file:
        for family in arguments.families:
            for model in MODELS[family]:
                name = f"{family}/{model.file}"
                if name in known or (arguments.only and name not in arguments.only):
                    continue
                print(name, flush=True)
                file.write(json.dumps(record(Path(arguments.models).resolve(), family, model, converters, cache)) + "\n")
                file.flush()


def _records(path: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []
    order = [f"{family}/{model.file}" for family, models in MODELS.items() for model in models]
    return sorted(records, key=lambda entry: order.index(entry["model"]))


def summary(records: Sequence[dict[str, Any]]) -> str:
    """Return the table of all models: what was tried, what failed, and the best row for each target."""
    lines = [
        f"| model | tried | failed | {' | '.join(TARGETS)} |",
        "|---" * (3 + len(TARGETS)) + "|",
    ]
    for entry in records:
        rows = entry["sweep"]["rows"]
        failed = Counter([row["failure"]["kind"] for row in rows if row["failure"]])
        told = ", ".join([f"{count} {kind}" for kind, count in failed.items()]) or "0"
        best = [_best_cell(entry, label) for label in TARGETS]
        lines.append(f"| {entry['model']} | {len(rows)} | {told} | {' | '.join(best)} |")
    tried = sum([len(entry["sweep"]["rows"]) for entry in records])
    failed_rows = [(entry["model"], row) for entry in records for row in entry["sweep"]["rows"] if row["failure"]]
    lines += ["", f"{tried} conversions of {len(records)} models were tried, and {len(failed_rows)} failed."]
    if failed_rows:
        lines += [
            "",
            "The errors of the failed conversions:",
            "",
            *[f"- {model}, {row['converter']}: {row['settings']}: {_why(row)}" for model, row in failed_rows],
        ]
    return "\n".join(lines)


def _why(row: dict[str, Any]) -> str:
    return f"{row['failure']['kind']}: `{row['failure']['line'].replace('`', chr(39))[:200]}`"


def _best_cell(entry: dict[str, Any], label: str) -> str:
    best = _best(entry, label)
    if best is None:
        return "-"
    cost = best["targets"][label]
    if not cost["delegated_nodes"]:
        return "nothing"
    quantizer = f" ({best['converter'].partition(' + ')[2]})" if "+" in best["converter"] else ""
    return f"{best['settings']}{quantizer}: {_percent(cost['multiply_add_share'])}, {cost['delegate_kernels']}"


def _best(entry: dict[str, Any], label: str) -> dict[str, Any] | None:
    number = entry["sweep"]["best_for"][label]
    return next((row for row in entry["sweep"]["rows"] if row["number"] == number), None)


def _percent(share: float) -> str:
    return f"{int(share * 1000) / 10:g} %"


def agreement(records: Sequence[dict[str, Any]]) -> str:
    """Return the table of models and targets where the diagnosis names a setting, or another conversion than float is better."""
    lines = [
        "| model | target | float | settings of the prediction | predicted | found | settings of the best conversion | agree |",
        "|---" * 8 + "|",
    ]
    silent = 0
    for entry in records:
        for label, told in entry["foretold"].items():
            best = _best(entry, label)
            assert best is not None
            numbers = best["targets"][label]
            now = told["now"]
            gains = (numbers["multiply_add_share"], -numbers["delegate_kernels"]) > (now["share"], -now["kernels"])
            if not told["settings"] and not (gains and numbers["multiply_add_share"] > told["now"]["share"] + _ALIKE):
                silent += 1
                continue
            agrees = abs(numbers["multiply_add_share"] - told["then"]["share"]) < _ALIKE
            cells = [
                entry["model"], label, _cell(told["now"]), ", ".join(told["settings"]) or "nothing", _cell(told["then"]),
                f"{_percent(numbers['multiply_add_share'])}, {numbers['delegate_kernels']}", best["settings"],
                ["no", "yes"][agrees],
            ]  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"For {silent} more pairs of a model and a target, the diagnosis names no setting, and no conversion delegates more "
        "than float.",
    ]
    return "\n".join(lines)


def _cell(cost: dict[str, Any]) -> str:
    return f"{_percent(cost['share'])}, {cost['kernels']}"


def sections(records: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Return the text between each pair of marks."""
    yield "summary", summary(records)
    yield "agreement", agreement(records)
    by_name = {entry["model"]: entry for entry in records}
    for mark, name in EXAMPLES.items():
        if name in by_name:
            yield mark, by_name[name]["page"].split("\n", 2)[2].replace(" (kept)", "").strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="sweep-models", help="the folder that tools.sweep.source_models wrote")
    parser.add_argument("--families", nargs="*", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--only", nargs="*", help="models as keras/resnet50.keras, for a part of them")
    parser.add_argument("--python", action="append", help="a Python that has converters")
    parser.add_argument("--cache", default="sweep-conversions", help="where conversions are kept")
    parser.add_argument("--records", default="sweep-records.jsonl", help="where records are kept between calls")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/appendix/sweep.md")
    arguments = parser.parse_args()
    run(arguments)
    records = _records(Path(arguments.records))
    page = PAGE.read_text("utf-8") if arguments.write else ""
    for mark, text in sections(records):
        if arguments.write:
            page = with_section(page, mark, text)
        else:
            print(f"{mark}\n\n{text}\n")
    if arguments.write:
        PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
