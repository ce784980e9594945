"""Work grows as an input does: each kind of input is made three times as large, and read by a command.

An input may also exceed a limit. The calls of functions are counted, which is exact but does not see work of compiled code, such
as a pattern that backtracks. So the processor time of the same runs is compared as well, with a bound between linear (3) and
quadratic (9).
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import signal
import sqlite3
import tarfile
import time
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from delegate_sim import analyze
from delegate_sim.delegates.registry import DELEGATE_NAMES, find_delegate
from delegate_sim.gate.baseline_content import packed
from delegate_sim.model.reader import load
from delegate_sim.results.compare.model_outline import outline
from delegate_sim.scan.journal import _FIRST_LINE, _LAST_LINE
from delegate_sim.scan.schema import COLUMNS, declaration
from fixtures.builder import ModelBuilder
from fixtures.bundles import apk, litertlm_bytes, long_field, manifest, protobuf_xml, tar_bytes, zip_bytes
from fixtures.device_logs import Device, HiddenDriver, HiddenRule, write_log
from fixtures.language_models import bundle, decoder, field
from fixtures.op_profiles import write_profile
from tests.support.growth import (
    CONFIGURATION,
    MODEL,
    archive,
    baseline,
    calls_of,
    configuration,
    devices,
    driver,
    entry,
    filters,
    log,
    op_profile,
    outlines,
    rows,
    run,
    written,
)
from tests.support.models import chain_model

MOST_CALLS = 3.4
"""The factor of calls that an input of three times the size may cost."""
MOST_SECONDS = 5.5
"""The factor of processor time that it may cost."""
SMALL = 0.04
"""Seconds that no command has to stay below: the cost that does not depend on the input, and what cannot be measured."""
MOST_IN_ALL = 60
"""Processor seconds after which a test fails. No input may take so long."""

MICRO = ("micro", "model.tflite", "--resolver", "main.cc")
KINDS = {}


def kind(size):
    """Register a function that makes an input of a size: files by name, and a command that reads them."""

    def register(make):
        KINDS[make.__name__] = (make, size)
        return make

    return register


@kind(5_000)
def log_with_one_line_of_underscores(count):
    return log("_" * count)


@kind(60_000)
def log_with_one_line_of_words(count):
    return log("Node a_b: " * (count // 10))


@kind(60_000)
def log_with_one_line_of_brackets(count):
    return log("[" * count)


@kind(1_200)
def log_with_many_lines(count):
    return log("".join([f"INFO: node {number} of the delegate is not delegated: [{number}]\n" for number in range(count)]))


@kind(400)
def log_with_many_processes(count):
    line = "11-20 12:00:00.000  {0}  {0} I tflite  : Replacing 1 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node.\n"
    return log("".join([line.format(number) for number in range(1, count + 1)]))


@kind(600)
def log_with_many_prefixes(count):
    return log("".join([f"{'abcdefgh'[number % 8] * (number % 90)}: Loaded model x.tflite\n" for number in range(count)]))


@kind(300)
def log_with_many_wrapped_lines(count):
    return log(
        "STARTING!\nReplacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node,\nyielding 1 partitions.\n" * count
    )


@kind(30_000)
def log_with_one_line_of_failed_checks(count):
    return log("a.cc:1 x != " * (count // 12))


@kind(300)
def log_with_many_runs(count):
    return log(
        "STARTING!\nLoaded model model.tflite\nReplacing 2 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node.\n" * count
    )


@kind(300)
def log_with_many_runs_of_one_model(count):
    line = "EXTERNAL delegate created.\nReplacing 5 out of 6 node(s) with delegate (Something) node, yielding 2 partitions.\n"
    return log("STARTING!\nLoaded model model.tflite\n" + line * count)


@kind(120)
def log_with_many_failed_kernels(count):
    replaced = "Replacing 3 out of {} node(s) with delegate (TfLiteNnapiDelegate) node, yielding 1 partitions for subgraph {}.\n"
    lines = [replaced.format(number % 7 + 9, number) for number in range(count)]
    lines += [f"Node number {number + 9} (TfLiteNnapiDelegate) failed to prepare.\n" for number in range(count)]
    return {"device.log": "".join(lines).encode()}, ("explain", "--log", "device.log")


@kind(300)
def log_with_many_missing_operators(count):
    line = "Didn't find op for builtin opcode 'OP{0}' version '{0}'.\n"
    return {"device.log": "".join(map(line.format, range(count))).encode()}, ("explain", "--log", "device.log")


def observations(count, words):
    rules = "".join([f'[[rejects]]\noperation = "R{number}"\n' for number in range(count)])
    seen = "".join([f"[[seen]]\n{words(number)}\nshapes = [{[1] * (number % 50)}]\n" for number in range(count)])
    files, command = log(write_log(load(MODEL), Device(HiddenDriver(HiddenRule("ADD")), {"feature_level": 30})))
    profile = f'schema = "delegate-sim/driver/1"\n{rules}{seen}'.encode()
    return {**files, "driver.toml": profile}, (*command, "--delegate", "nnapi", "--learn", "driver.toml", "--force")


@kind(240)
def profile_of_a_driver_that_is_refined(count):
    return observations(count, lambda number: f'operation = "S{number}"\ntypes = []\naccepted = false')


@kind(240)
def profile_of_a_driver_with_shapes(count):
    words = 'operation = "S"\ntypes = ["T{}"]\naccepted = {}'
    return observations(count, lambda number: words.format(number // 100, "true" if number % 3 else "false"))


@kind(900)
def op_profile_as_text(count):
    return op_profile(write_profile(rows(count)))


@kind(900)
def op_profile_as_csv(count):
    return op_profile(write_profile(rows(count), "csv"))


@kind(900)
def op_profile_as_json(count):
    return op_profile(write_profile(rows(count), "json"))


@kind(600)
def configuration_with_comments_before_a_fault(count):
    return configuration("#\n" * count + CONFIGURATION + "nothing = 1\n")


@kind(2_400)
def configuration_with_keys_before_a_fault(count):
    return configuration(CONFIGURATION + "".join([f"k{number} = [1]\n" for number in range(count)]))


@kind(25)
def configuration_with_targets(count):
    return configuration('models = ["model.tflite"]\n' + "".join([f'[targets.t{n}]\ndelegate = "gpu"\n' for n in range(count)]))


@kind(35)
def targets_that_a_model_is_rewritten_for(count):
    return configuration_with_targets(count)[0], ("fix", "model.tflite", "--plan", "--per-target")


@kind(25)
def targets_with_a_file_each(count):
    return configuration_with_targets(count)[0], ("export", "model-explorer", "model.tflite", "--output", "x.json", "--force")


@kind(900)
def configuration_with_overrides(count):
    return configuration(CONFIGURATION + '[[overrides]]\nmodels = ["m*"]\nmax-fallback = 1\n' * count)


@kind(300)
def configuration_with_overrides_of_targets(count):
    targets = "".join([f'[targets.t{n}]\ndelegate = "gpu"\n' for n in range(20)])
    overrides = "".join([f'[[overrides]]\ntargets = ["t{n % 20}"]\nmax-fallback = {n}\n' for n in range(count)])
    return configuration(f'models = ["model.tflite"]\n{targets}{overrides}')


@kind(300)
def configuration_with_patterns(count):
    patterns = json.dumps([f"{'**/' * (number % 3)}m*{number}-{count}" for number in range(count)])
    return configuration(CONFIGURATION.replace('["model.tflite"]', patterns))


@kind(1_200)
def configuration_with_repeated_patterns(count):
    return configuration(CONFIGURATION.replace('["model.tflite"]', json.dumps(["m*"] * count)))


@kind(25)
def configuration_with_targets_that_multiply(count):
    releases = json.dumps([f"litert-9.9.{number}" for number in range(count)])
    platforms = json.dumps(["8.1", "9", "10", "11", "12", "13"])
    target = f'[targets.one]\ndelegate = "nnapi"\nandroid = {platforms}\nruntime = {releases}\n'
    return configuration(f'models = ["model.tflite"]\n{target}')


@kind(300)
def configuration_with_one_pattern_of_stars(count):
    return configuration(CONFIGURATION.replace("model.tflite", "*a" * count))


@kind(90)
def configuration_with_one_pattern_of_folders(count):
    patterns = ["**/*/" * count + "x", "*/**/" * count + "**"]
    return configuration(CONFIGURATION + f"models = {json.dumps(patterns)}\n")


@kind(300)
def configuration_with_nested_lists(count):
    return configuration(CONFIGURATION + f"k = {'[' * count}{']' * count}\n")


@kind(600)
def driver_with_comments_before_a_fault(count):
    return driver("#\n" * count + "nothing = 1\n")


@kind(900)
def driver_with_rejections(count):
    return driver("".join([f'[[rejects]]\noperation = "ADD"\nshapes = [[{number}]]\n' for number in range(count)]))


@kind(2_400)
def driver_with_rejections_before_a_fault(count):
    return driver('[[rejects]]\noperation = "ADD"\n' * count + "[[rejects]]\n")


@kind(500)
def driver_with_open_rejections(count):
    group = '[[rejects_one_of]]\n[[rejects_one_of.operations]]\noperation = "ADD"\ntypes = ["FLOAT32"]\nshapes = [[{}]]\n'
    return driver("".join([group.format(number) for number in range(count)]))


@kind(4)
def devices_of_a_phone(count):
    return devices("".join([f'[[devices]]\nname = "d{number}"\nfeature_level = 30\n' for number in range(count)]))


@kind(700)
def devices_with_refusals(count):
    refusal = '[[devices.refuses]]\noperation = "ADD"\nshapes = [[{}]]\n'
    return devices('[[devices]]\nname = "d"\nfeature_level = 30\n' + "".join([refusal.format(number) for number in range(count)]))


@kind(180)
def baseline_with_entries(count):
    return baseline([entry(f"{number}.tflite") for number in range(count)], outlines(1))


@kind(150)
def baseline_with_entries_of_no_model(count):
    sources = "".join([f'[sources.s{number}]\nsource = "s{number}.keras"\n' for number in range(count)])
    files, words = baseline([{**entry(f"x{number}"), "target": "none"} for number in range(count)], outlines(1))
    return {**files, **configuration(CONFIGURATION + sources)[0]}, words


@kind(600)
def baseline_with_refusals(count):
    return baseline([entry(fallback=[[0, f"code-{number}", str(number)] for number in range(count)])], outlines(count))


@kind(1_200)
def baseline_with_ranges(count):
    return baseline([entry(fallback=[[0, "gpu-x", ",".join(map(str, range(0, 2 * count, 2)))]])], outlines(2 * count))


@kind(600)
def baseline_with_nodes(count):
    return baseline([entry()], outlines(count))


@kind(1_800)
def times_with_entries(count):
    rows = [
        {"model": f"{n}", "target": "one", "date": "2026", "operators": {"ADD": {"count": 1, "ms": 1}}, "kernels": {}}
        for n in range(count)
    ]
    files, words = baseline([entry()], outlines(1))
    return {**files, "delegate-sim-times.json": json.dumps({"schema": "delegate-sim/times/1", "entries": rows}).encode()}, words


def resolver(text):
    return {"main.cc": f"r.AddRelu();\n{text}".encode()}, MICRO


@kind(12_000)
def resolver_with_nested_conditions(count):
    return resolver("#if X\n" * count + "#endif\n" * count)


@kind(6_000)
def resolver_with_nested_code_that_is_not_compiled(count):
    return resolver("#if 0\n" * count + "#else\n#endif\n" * count)


@kind(6_000)
def resolver_with_alternatives(count):
    return resolver("#if X\n" + "#elif 1\nr.AddAdd();\n" * count + "#endif\n")


@kind(12_000)
def resolver_with_conditions_that_do_not_end(count):
    return resolver("#if 1\n" * count)


@kind(2_400)
def resolver_with_calls(count):
    return resolver('constexpr char k[] = "Own";\nr.AddCustom(k, x);\n' * count)


@kind(600)
def filters_of_operators(count):
    return filters("".join([f'filters {{ op_name_pattern: "a{number}" }}\n' for number in range(count)]))


@kind(3_000)
def filters_of_nested_messages(count):
    return filters("filters { " * count + "} " * count)


@kind(120)
def filters_with_nested_groups(count):
    return filters(f'filters {{ op_name_pattern: "{"(a|" * count}b{")*" * count}" }}')


@kind(4)
def filters_with_nested_repeats(count):
    return filters(f'filters {{ op_name_pattern: "{"((a|a)*)*b"}" }}', "a" * count)


@kind(300)
def filters_with_a_long_name(count):
    return filters('filters { op_name_pattern: "a*a*a*b" }', "a" * count)


@kind(3_000)
def filters_with_alternatives(count):
    return filters(f'filters {{ op_name_pattern: "{"|".join(["ab"] * count)}" }}')


@kind(240)
def filters_with_wide_classes(count):
    return filters(f'filters {{ op_name_pattern: "{"".join([f"(?i)[a-{chr(0xFFFF - number)}]" for number in range(count)])}" }}')


@kind(3)
def filters_with_repeats_of_repeats(count):
    return filters(f'filters {{ op_name_pattern: "{"(" * count}a{"{0,9})" * count}" }}')


@kind(600)
def zip_with_files(count):
    return archive("a.zip", zip_bytes({f"{number}.txt": b"x" for number in range(count)}))


@kind(18)
def zip_with_models(count):
    return archive("a.zip", zip_bytes({f"{number}.tflite": MODEL for number in range(count)}))


@kind(600)
def zip_with_equal_names(count):
    content = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(content, "w") as target:
        warnings.simplefilter("ignore")
        for _ in range(count):
            target.writestr("m.tflite", MODEL[:100])
    return archive("a.zip", content.getvalue())


def application(elements, libraries=()):
    return {"a.apk": apk(libraries, None, elements)}, ("inspect", "a.apk")


@kind(240)
def apk_with_many_libraries(count):
    return application(manifest(), [f"libLiteRtDispatch_{number}.so" for number in range(count)])


@kind(240)
def apk_with_many_declared_libraries(count):
    return application(manifest([f"lib{number}.so" for number in range(count)]), ["libLiteRt.so"])


@kind(240)
def apk_with_many_attributes(count):
    return application([("manifest", {f"attribute{number}": number for number in range(count)})])


@kind(600)
def apk_with_many_elements(count):
    return application([*manifest(), *[("other", {})] * count, *[("uses-sdk", {"minSdkVersion": 1})] * count])


@kind(600)
def aar_with_nested_elements(count):
    xml = b"<manifest>" + b"<application>" * count + b"</application>" * count + b"</manifest>"
    return {"a.aar": zip_bytes({"AndroidManifest.xml": xml, "classes.jar": b""})}, ("inspect", "a.aar")


@kind(12_000)
def aab_with_nested_elements(count):
    nested = b""
    for _ in range(count // 20):
        nested = long_field(1, long_field(5, nested))
    files = {"base/manifest/AndroidManifest.xml": protobuf_xml(manifest()) + nested, "BundleConfig.pb": b""}
    return {"a.aab": zip_bytes(files)}, ("inspect", "a.aab")


@kind(12)
def zip_in_a_zip(count):
    return archive("a.zip", zip_bytes({f"{number}.zip": zip_bytes({"m.tflite": MODEL}) for number in range(count)}))


@kind(2_400)
def zip_with_extra_fields(count):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as target:
        info = zipfile.ZipInfo("m.txt")
        info.extra = b"\x09\x99\x00\x00" * count
        target.writestr(info, b"x")
    return archive("a.zip", content.getvalue())


@kind(300)
def tar_with_files(count):
    return archive("a.tar", tar_bytes({f"{number}.txt": b"x" for number in range(count)}))


def records(count, entries=1):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as target:
        for number in range(entries):
            info = tarfile.TarInfo(f"{number}.txt")
            info.pax_headers = {f"k{record}": "x" for record in range(count)}
            target.addfile(info)
    return content.getvalue()


@kind(6_000)
def tar_with_records(count):
    return archive("a.tar", records(count))


@kind(120)
def tar_with_records_of_many_entries(count):
    return archive("a.tar", records(1, count))


@kind(1_200)
def tar_with_global_records(count):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", pax_headers={f"k{record}": "x" for record in range(count)}) as target:
        for number in range(count // 10):
            target.addfile(tarfile.TarInfo(f"{number}.txt"))
    return archive("a.tar", content.getvalue())


@kind(5 << 20)
def tar_that_is_compressed(count):
    return archive("a.tar.gz", tar_bytes({"zeros.txt": bytes(count), "m.tflite": MODEL}, "w:gz"))


def llm(content, *words):
    return {"llm.litertlm": content}, ("analyze", "llm.litertlm", *words)


@kind(30)
def litertlm_with_sections(count):
    return archive("llm.litertlm", litertlm_bytes([(9, {"name": f"{number}"}, b"x") for number in range(count)]))


@kind(120)
def litertlm_with_items(count):
    items = {f"k{number}": "x" for number in range(count)}
    return archive("llm.litertlm", litertlm_bytes([(9, items, b"x")]))


@kind(30)
def litertlm_with_shared_items(count):
    items = {f"k{number}": "x" for number in range(count)}
    return archive("llm.litertlm", litertlm_bytes([(9, items, b"x") for _ in range(count)], shares_items=True))


@kind(300)
def litertlm_with_a_long_prompt(count):
    return llm(bundle(decoder()), "--option", f"prompt={'ab' * count}")


@kind(300)
def litertlm_with_a_prompt_of_other_words(count):
    return llm(bundle(decoder()), "--option", f"prompt={'xy ' * count}")


@kind(3_000)
def litertlm_with_a_large_tokenizer(count):
    pieces = b"".join([field(1, field(1, f"p{number}".encode())) for number in range(count)])
    return llm(bundle(decoder(), pieces=pieces + field(2, field(3, 2))), "--option", "prompt=abc")


@kind(300)
def litertlm_with_signatures(count):
    return llm(bundle(decoder({f"prefill_{number}": number for number in range(16, 16 + count // 100)})))


def table_rows(table, count):
    columns = declaration(table).split(", ")
    texts = ["TEXT" in column.upper() for column in columns]
    for number in range(count):
        yield [
            f"{number}.tflite" if place == 0 else "gpu" if place == 1 else "{}" if is_text else 1
            for place, is_text in enumerate(texts)
        ]


def text_table(suffix, count):
    files = {}
    for table in COLUMNS:
        name = f"zoo.{suffix}" if table == "runs" else f"zoo.causes.{suffix}"
        names = [column.split()[0].strip('"') for column in declaration(table).split(", ")]
        rows_ = table_rows(table, count)
        if suffix == "csv":
            text = "\n".join([",".join(names), *[",".join(map(str, row)) for row in rows_]]) + "\n"
        else:
            text = "".join([json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows_])
        files[name] = text.encode()
    return files


@kind(600)
def records_of_device_runs(count):
    """Return records of one accelerator, each with another release."""
    records = [
        {"accelerator": "gpu_mldrift", "loads": True, "env": {"runtime_version": f"9.{number}"}} for number in range(count)
    ]
    text = json.dumps({"artifact": "m.tflite", "results": records})
    return {"records.json": text.encode()}, ("import-records", "records.json")


@kind(600)
def table_as_csv(count):
    return text_table("csv", count), ("query", "zoo.csv")


@kind(600)
def table_as_json_lines(count):
    return text_table("jsonl", count), ("query", "zoo.jsonl")


@kind(600)
def table_as_sqlite(count):
    connection = sqlite3.connect(":memory:")
    for table in COLUMNS:
        connection.execute(f"CREATE TABLE {table} ({declaration(table)})")
        marks = ", ".join("?" * len(declaration(table).split(", ")))
        connection.executemany(f"INSERT INTO {table} VALUES ({marks})", table_rows(table, count))
    connection.commit()
    if not hasattr(connection, "serialize"):
        pytest.skip("this Python cannot return a database as bytes")
    return {"zoo.sqlite": connection.serialize()}, ("query", "zoo.sqlite", "--view", "refused-operators")


@kind(600)
def journal(count):
    groups = [json.dumps([table, *row]) + "\n" for table in COLUMNS for row in table_rows(table, count)]
    content = _FIRST_LINE + "".join(groups).encode() + _LAST_LINE
    return {"zoo.csv.journal": content}, ("scan", "model.tflite", "--delegate", "gpu", "--processes", "1", "-o", "zoo.csv")


def command_lines(make):
    """Register a model of a size with several commands, each a kind of its own."""

    def register(size, *commands):
        for words in commands:
            KINDS[f"{make.__name__}:{words[0]}{'-micro' if '--micro' in words else ''}"] = (
                lambda count, words=words: ({"model.tflite": make(count)}, (words[0], "model.tflite", *words[1:])),
                size,
            )

    return register


COMMANDS = (
    ("inspect",),
    ("analyze", "--delegate", "gpu"),
    ("diagnose", "--delegate", "nnapi"),
    ("micro",),
    ("report", "--delegate", "gpu", "--output", "page.html", "--force"),
)


def model_with_nodes(count):
    return chain_model(["ADD", "RELU", "TANH"] * count).bytes()


def model_with_causes(count):
    return chain_model([f"ADD {number % 200 + 1}" for number in range(count)]).bytes()


def model_with_subgraphs(count):
    builder = ModelBuilder()
    for number in range(count):
        graph = builder.subgraph(f"s{number}")
        result = graph.tensor("y", "FLOAT32", [1, 4])
        graph.node("RELU", [graph.input("x", "FLOAT32", [1, 4])], [result])
        graph.outputs(result)
    return builder.bytes()


def model_with_calls(count):
    """Return nodes that all call the same subgraph."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    condition, result = graph.input("c", "BOOL", [1]), graph.input("x", "FLOAT32", [1, 4])
    for number in range(count):
        source, result = result, graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        graph.node("IF", [condition, source], [result], options={"then_subgraph_index": 1, "else_subgraph_index": 1})
    graph.outputs(result)
    body = builder.subgraph("body")
    source, result = body.input("x", "FLOAT32", [1, 4]), body.tensor("y", "FLOAT32", [1, 4])
    body.node("RELU", [source], [result])
    body.outputs(result)
    return builder.bytes()


def model_with_called_subgraphs(count, op="GELU"):
    """Return subgraphs that nodes of the first subgraph call, with a refused node in each."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    condition, result = graph.input("c", "BOOL", [1]), graph.input("x", "FLOAT32", [1, 4])
    for number in range(1, count + 1):
        source, result = result, graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        options = {"then_subgraph_index": number, "else_subgraph_index": number}
        graph.node("IF", [condition, source], [result], options=options)
    graph.outputs(result)
    for number in range(count):
        body = builder.subgraph(f"body{number}")
        source, result = body.input("x", "FLOAT32", [1, 4]), body.tensor("y", "FLOAT32", [1, 4])
        body.node(op, [source], [result])
        body.outputs(result)
    return builder.bytes()


def model_with_composites(count):
    """Return subgraphs that are each a composite of the whole first subgraph."""
    return model_with_called_subgraphs(count, "STABLEHLO_COMPOSITE")


def model_with_nested_calls(count):
    """Return subgraphs that each call the next subgraph twice, so that the calls multiply."""
    builder = ModelBuilder()
    for level in range(count + 1):
        graph = builder.subgraph(f"level{level}")
        condition, source = graph.input("c", "BOOL", [1]), graph.input("x", "FLOAT32", [1, 4])
        result = graph.tensor("y", "FLOAT32", [1, 4])
        if level < count:
            options = {"then_subgraph_index": level + 1, "else_subgraph_index": level + 1}
            graph.node("IF", [condition, condition, source], [result], options=options)
        else:
            graph.node("RELU", [source], [result])
        graph.outputs(result)
    return builder.bytes()


def model_with_long_names(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.input("x" * count, "FLOAT32", [1, 4])
    for number in range(10):
        source, result = result, graph.tensor(f"{number}" + "t" * count, "FLOAT32", [1, 4])
        graph.node("CUSTOM", [source], [result], custom=f"{number}" + "C" * count)
    graph.outputs(result)
    return builder.bytes()


def model_with_signatures(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, result = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("y", "FLOAT32", [1, 4])
    graph.node("RELU", [source], [result])
    graph.outputs(result)
    for number in range(count):
        builder.signature(f"s{number}", graph, {"x": source}, {"y": result})
    return builder.bytes()


def model_with_inputs(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.tensor("y", "FLOAT32", [1, 4 * count])
    graph.node("CONCATENATION", [graph.input(f"x{n}", "FLOAT32", [1, 4]) for n in range(count)], [result], options={"axis": 1})
    graph.outputs(result)
    return builder.bytes()


def model_with_metadata(count):
    builder = chain_model(["RELU"])
    for number in range(count):
        builder.metadata(f"m{number}", b"x")
    return builder.bytes()


def model_with_custom_operators(count):
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    result = graph.input("x", "FLOAT32", [1, 4])
    for number in range(count):
        source, result = result, graph.tensor(f"y{number}", "FLOAT32", [1, 4])
        graph.node("CUSTOM", [source], [result], custom=f"Op{number}")
    graph.outputs(result)
    return builder.bytes()


for make, size in (
    (model_with_nodes, 60),
    (model_with_causes, 25),
    (model_with_subgraphs, 90),
    (model_with_calls, 120),
    (model_with_nested_calls, 5),
    (model_with_long_names, 12_000),
    (model_with_signatures, 900),
    (model_with_inputs, 180),
    (model_with_metadata, 900),
    (model_with_custom_operators, 35),
):
    command_lines(make)(size, *COMMANDS)
for make, size in (
    (model_with_nodes, 60),
    (model_with_causes, 60),
    (model_with_custom_operators, 120),
    (model_with_called_subgraphs, 35),
    (model_with_composites, 30),
):
    command_lines(make)(size, ("diagnose", "--micro"))
command_lines(model_with_nodes)(60, ("whatif", "--delegate", "hexagon", "--to", "int8"))
command_lines(model_with_composites)(30, ("fix", "--micro", "--output", "fixed.tflite", "--force"))


def model_with_a_shared_tensor(count, last="NEG"):
    """Return a tensor that many nodes write and many nodes read."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    source, shared = graph.input("x", "FLOAT32", [1, 4]), graph.tensor("h", "FLOAT32", [1, 4])
    results = [graph.tensor(f"y{number}", "FLOAT32", [1, 4]) for number in range(count)]
    for _ in range(count):
        graph.node("RELU", [source], [shared])
    for result in results:
        graph.node("ABS", [shared], [result])
    changed = graph.tensor("z", "FLOAT32", [1, 4])
    graph.node(last, [results[-1]], [changed])
    graph.outputs(changed)
    return builder.bytes()


@kind(90)
def compared_models_with_a_shared_tensor(count):
    files = {"model.tflite": model_with_a_shared_tensor(count), "other.tflite": model_with_a_shared_tensor(count, "EXP")}
    return files, ("compare", "model.tflite", "other.tflite", "--delegate", "gpu")


@kind(90)
def model_with_a_shared_tensor_and_its_baseline(count):
    before = outline(load(model_with_a_shared_tensor(count, "EXP")))
    files, words = baseline([entry()], [["0" * 64, packed(before)]])
    return {**files, "model.tflite": model_with_a_shared_tensor(count)}, words


command_lines(model_with_a_shared_tensor)(90, ("whatif", "--delegate", "gpu", "--batch", "2"))
command_lines(model_with_a_shared_tensor)(
    90, ("analyze", "--delegate", "npu-google", "--option", "partition_strategy=weakly_connected")
)


class OpenGraph:
    """A graph with an input ``x`` of any batch and 4 columns."""

    def __init__(self):
        self.builder = ModelBuilder()
        self.graph = self.builder.subgraph("main")
        self.source = self.graph.input("x", "FLOAT32", [1, 4], signature=[-1, 4])

    def result(self, *sizes):
        return self.graph.tensor("", "FLOAT32", [1, *sizes], signature=[-1, *sizes])

    def node(self, op, inputs, result, **options):
        self.graph.node(op, inputs, [result], options=options or None)
        return result

    def bytes(self, *outputs):
        self.graph.outputs(*outputs)
        return self.builder.bytes()


def model_with_open_reshapes(count):
    open_graph = OpenGraph()
    source, shapes = open_graph.source, [(4,), (2, 2)]
    sizes = [open_graph.graph.tensor("", "INT32", [len(shape) + 1], data=[-1, *shape]) for shape in shapes]
    for number in range(1, count + 1):
        result = open_graph.result(*shapes[number % 2])
        source = open_graph.node("RESHAPE", [source, sizes[number % 2]], result)
    return open_graph.bytes(source)


def model_with_nodes_for_a_shape(count):
    """Return a chain of nodes. Only the shape of its result is read."""
    open_graph = OpenGraph()
    source = open_graph.source
    for _ in range(count):
        source = open_graph.node("ABS", [source], open_graph.result(4))
    shape = open_graph.node("SHAPE", [source], open_graph.graph.tensor("", "INT32", [2]), out_type=2)
    return open_graph.bytes(open_graph.node("RESHAPE", [open_graph.source, shape], open_graph.result(4)))


def model_with_an_open_shared_tensor(count):
    open_graph = OpenGraph()
    result, shared = open_graph.source, open_graph.graph.tensor("h", "FLOAT32", [1, 4])
    for _ in range(count):
        open_graph.node("ABS", [open_graph.source], shared)
    for _ in range(count):
        result = open_graph.node("ADD", [result, shared], open_graph.result(4), fused_activation_function=0)
    return open_graph.bytes(result)


for make, size in (
    (model_with_open_reshapes, 90),
    (model_with_nodes_for_a_shape, 90),
    (model_with_an_open_shared_tensor, 300),
):
    command_lines(make)(size, ("whatif", "--delegate", "gpu", "--fix-shapes"))


@contextlib.contextmanager
def stopped_at_some_time():
    """Fail if a command takes too long, so that a pattern that backtracks does not stop all tests."""

    def stop(*_):
        pytest.fail(f"takes more than {MOST_IN_ALL} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_IN_ALL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def cost_of(folder, monkeypatch, make, size):
    """Return the calls and the processor time of a command, and what ``run`` returns."""
    words = written(folder / str(size), make(size), monkeypatch)
    gc.collect()
    gc.disable()  # the time of a collection depends on all that the tests before have left
    start = time.process_time()
    calls, is_over = calls_of(words)
    seconds = time.process_time() - start
    gc.enable()
    return calls, seconds, is_over


@pytest.fixture(scope="module", autouse=True)
def _no_collection_of_earlier_objects():
    """Leave out what earlier tests have left, so that each collection takes little time."""
    gc.collect()
    gc.freeze()


class NotSearched(tuple):
    """The inputs or outputs of a subgraph. A file may have very many, so they must not be searched for each node."""

    def __contains__(self, index):
        raise AssertionError("a tuple of inputs or outputs is searched")


@pytest.fixture(scope="module")
def not_searched():
    models = []
    for model in map(load, sorted(Path("fixtures/models").glob("*.tflite"))):
        subgraphs = [
            replace(each, inputs=NotSearched(each.inputs), outputs=NotSearched(each.outputs)) for each in model.subgraphs
        ]
        models.append(replace(model, subgraphs=tuple(subgraphs)))
    return models


@pytest.mark.parametrize("delegate", DELEGATE_NAMES)
def test_inputs_and_outputs_are_not_searched_for_each_node(not_searched, delegate):
    if find_delegate(delegate).is_live_only:
        pytest.skip("this delegate is not simulated")
    for model in not_searched:
        analyze(model, delegate)


KINDS |= {
    f"resolver_with_repeated_pieces:{piece}": (lambda count, piece=piece: resolver(piece * count), 5_000)
    for piece in ('"', "'", 'R"(', "/*", "\\\n", "Add", "AddX<", "a::", " ", "k = ", "k[", "1'")
}


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timer of processor time")
@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_work_grows_as_the_input_does(tmp_path, monkeypatch, name):
    make, size = KINDS[name]
    run(written(tmp_path / "first", make(max(2, size // 5)), monkeypatch))  # imports modules
    with stopped_at_some_time():
        for more in range(3):  # other work may disturb a measurement; no cache knows an input of another size
            calls, seconds, _ = cost_of(tmp_path, monkeypatch, make, size + more)
            more_calls, more_seconds, is_over = cost_of(tmp_path, monkeypatch, make, 3 * (size + more))
            if is_over:
                return
            assert more_calls < MOST_CALLS * calls
            if more_seconds < MOST_SECONDS * max(seconds, SMALL):
                return
    pytest.fail(f"three times the input takes {more_seconds / max(seconds, SMALL):.1f} times as long")
