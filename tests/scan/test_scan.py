from __future__ import annotations

import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from delegate_sim.foundation.files import LARGEST_IN_MEMORY, file_content
from delegate_sim.scan import scan as scanning
from delegate_sim.scan.job import Job, answer
from delegate_sim.scan.journal import ScanError
from delegate_sim.scan.output import causes_path
from delegate_sim.scan.scan import Workers, answers_here, answers_on, scan
from delegate_sim.scan.schema import CAUSES, RUNS
from fixtures.builder import ModelBuilder
from tests.support.models import chain_model
from tests.support.scans import GPU, NNAPI, judged, read

has_arrow = pytest.mark.skipif(importlib.util.find_spec("pyarrow") is None, reason="Parquet needs pyarrow")
FORMATS = [pytest.param("parquet", marks=has_arrow), "csv", "jsonl", "sqlite"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_what_is_written_is_what_was_found(zoo, suffix):
    output = f"found.{suffix}"
    scan(zoo, [NNAPI, GPU], output, Workers())
    tables = read(output)
    scan(zoo, [NNAPI, GPU], "other.jsonl", Workers())
    assert tables == read("other.jsonl")
    rows = {(row["model"], row["target"]): row for row in tables[RUNS]}
    assert len(rows) == 6
    assert rows["zoo/a.tflite", NNAPI.name]["delegated_nodes"] == 2
    assert rows["zoo/c.tflite", GPU.name]["error"].startswith("zoo/c.tflite: is not a TFLite model")
    causes = [row for row in tables[CAUSES] if row["target"] == NNAPI.name]
    assert [(row["model"], row["code"], row["operator"], row["nodes"], row["operator_nodes"]) for row in causes] == [
        ("zoo/a.tflite", "nnapi-operator", "ROUND", 1, 1)
    ]
    assert not Path(f"{output}.journal").exists()


def test_a_second_scan_judges_what_is_new_or_changed(zoo, monkeypatch):
    assert judged(scan(zoo[:2], [NNAPI], "z.jsonl", Workers())) == (2, 0)
    before = Path("z.jsonl").read_bytes()
    assert judged(scan(zoo[:2], [NNAPI], "z.jsonl", Workers())) == (0, 2)
    assert Path("z.jsonl").read_bytes() == before
    Path(zoo[1]).write_bytes(chain_model(["ADD", "ADD"]).bytes())
    Path("zoo/d.tflite").write_bytes(chain_model(["ROUND"]).bytes())
    found = scan([*zoo[:2], "zoo/d.tflite"], [NNAPI], "z.jsonl", Workers())
    assert judged(found) == (2, 1)
    assert [row["nodes"] for row in read("z.jsonl")[RUNS]] == [3, 2, 1]
    assert judged(scan(zoo[:2], [NNAPI, GPU], "z.jsonl", Workers())) == (2, 0)
    monkeypatch.setattr("delegate_sim.results.report.rule_set.rule_set_version", lambda delegate: f"other {delegate.name}")
    assert judged(scan(zoo[:2], [NNAPI, GPU], "z.jsonl", Workers())) == (2, 0)


def test_a_model_that_raises_is_a_row(zoo, monkeypatch):
    def broken(*_, **_named):
        raise ZeroDivisionError("of a rule")

    monkeypatch.setattr("delegate_sim.live.live_runs.run_target", broken)
    result = answer(Job(zoo[0], (NNAPI,), {}))
    (row,) = result.runs
    assert row["error"] == "zoo/a.tflite: internal error: ZeroDivisionError: of a rule"
    assert row["sha256"]
    assert result.is_fault


def test_processes_find_what_one_process_finds(zoo):
    jobs = [Job(model, (NNAPI, GPU), {}) for model in zoo]
    found = [[answer for some in answers_here(jobs, 3, processes) for answer in some] for processes in (1, 2)]
    for answers in found:
        answers.sort(key=lambda answer: answer.runs[0]["model"])
    assert found[0] == found[1]
    assert len(found[0]) == 3


def ends_its_process(batch):
    """Judges models, in a worker, but for one that the process does not survive."""
    if any(job.model == "zoo/b.tflite" for job in batch):
        os._exit(1)
    return [answer(job) for job in batch]


def found_beside_a_deadly_model(answers):
    rows = [row for some in answers for each in some for row in each.runs]
    assert Counter(row["model"] for row in rows) == {**{f"copy{n}.tflite": 1 for n in range(64)}, "zoo/b.tflite": 1}
    (error,) = [row["error"] for row in rows if row["error"]]
    return error


@pytest.fixture
def with_a_deadly_model(zoo):
    for number in range(64):
        Path(f"copy{number}.tflite").write_bytes(Path(zoo[0]).read_bytes())
    models = [f"copy{number}.tflite" for number in range(64)]
    return [Job(model, (NNAPI,), {}) for model in [*models[:20], zoo[1], *models[20:]]]


def test_a_model_that_ends_its_process_takes_no_other_with_it(with_a_deadly_model, monkeypatch):
    monkeypatch.setattr("delegate_sim.scan.scan.answers_to", ends_its_process)
    error = found_beside_a_deadly_model(answers_here(with_a_deadly_model, 65, 2))
    assert error.startswith("zoo/b.tflite: the process that simulated the model died. A model file that becomes shorter")


def shrinks_while_it_is_read(batch):
    """Judges models; one is cut short once it is mapped."""

    def cut(file):
        content = file_content(file)
        if len(content) > LARGEST_IN_MEMORY:
            os.truncate("zoo/b.tflite", 0)
        return content

    with patch("delegate_sim.bundles.ranged.file_content", cut):
        return [answer(job) for job in batch]


@pytest.mark.skipif(sys.platform == "win32", reason="no mapped file can shrink there")
@pytest.mark.parametrize(
    ("processes", "expected"),
    [
        (
            1,
            "the process that simulated the model died. A model file that becomes shorter during the scan can cause this. If "
            "yours did not, please report this problem, and attach the model",
        ),
        (2, "is empty"),
    ],
)
def test_a_file_that_shrinks_may_end_a_worker_but_not_the_scan(with_a_deadly_model, monkeypatch, processes, expected):
    os.truncate("zoo/b.tflite", LARGEST_IN_MEMORY + 1)
    monkeypatch.setattr("delegate_sim.scan.scan.answers_to", shrinks_while_it_is_read)
    error = found_beside_a_deadly_model(answers_here(with_a_deadly_model, 65, processes))
    assert error == f"zoo/b.tflite: {expected}"


def test_a_model_that_ends_the_workers_of_a_cluster_takes_no_other_with_it(with_a_deadly_model, monkeypatch):
    distributed = pytest.importorskip("distributed", reason="--scheduler needs distributed")
    dask = pytest.importorskip("dask")
    monkeypatch.setattr("delegate_sim.scan.scan.answers_to", ends_its_process)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
    ):
        error = found_beside_a_deadly_model(answers_on(cluster.scheduler_address, with_a_deadly_model, 65))
    assert error.startswith("zoo/b.tflite: KilledWorker: ")


def test_ctrl_c_leaves_a_valid_output(zoo, monkeypatch):
    def interrupted(jobs, *_):
        yield [answer(next(iter(jobs)))]
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(scanning, "answers_here", interrupted)
        found = scan(zoo, [NNAPI], "z.csv", Workers())
    assert found.is_interrupted
    assert [row["model"] for row in read("z.csv")[RUNS]] == zoo[:1]
    again = scan(zoo, [NNAPI], "z.csv", Workers())
    assert judged(again) == (2, 1)


def custom_model(name):
    """A model of one custom operator with this name."""
    builder = ModelBuilder()
    graph = builder.subgraph("main")
    tensors = [graph.input("x", "FLOAT32", (1,)), graph.tensor("y", "FLOAT32", (1,))]
    graph.node("CUSTOM", tensors[:1], tensors[1:], custom=name)
    return builder.bytes()


def test_a_spreadsheet_takes_no_name_for_a_formula(zoo):
    Path("odd.tflite").write_bytes(custom_model("=HYPERLINK(1)"))
    scan(["odd.tflite"], [NNAPI], "z.csv", Workers())
    assert ",=HYPERLINK" not in Path("z.causes.csv").read_text()
    assert {row["operator"] for row in read("z.csv")[CAUSES]} == {"=HYPERLINK(1)"}


def test_names_that_no_format_could_hold(zoo):
    """Not UTF-8, with NUL, carriage returns and quotes: in paths and in names of custom operators."""
    models = [os.fsdecode(b"odd\xff\r.tflite"), "'=1;-2.tflite"]
    for model in models:
        Path(model).write_bytes(custom_model('a\rb\0c"d,;=e\u202e'))
    outputs = ["z.csv", "z.jsonl", "z.sqlite"]
    for output in outputs:
        scan(models, [NNAPI], output, Workers())
        assert judged(scan(models, [NNAPI], output, Workers())) == (0, 2)
    assert read(outputs[0]) == read(outputs[1]) == read(outputs[2])
    assert [row["model"] for row in read("z.csv")[RUNS]] == ["odd\\udcff\\r.tflite", "'=1;-2.tflite"]


@pytest.mark.parametrize(("name", "content"), [("z.csv", "a,b\n1,2\n"), ("z.jsonl", "[]\n"), ("z.sqlite", "no database" * 99)])
def test_an_output_of_something_else_is_kept(zoo, name, content):
    Path(name).write_text(content)
    with pytest.raises(ScanError, match="is not the output of a scan"):
        scan(zoo, [NNAPI], name, Workers())
    assert Path(name).read_text() == content


def many(folder, count):
    """An archive of small models, each a little different from the others."""
    path = folder / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(count):
            builder = chain_model(["ADD", "ROUND"] * 8)
            builder.description = str(number)
            archive.writestr(f"{number:04}.tflite", builder.bytes())
    return path


def journaled(folder):
    """The number of rows in the journal."""
    path = folder / "z.jsonl.journal"
    return path.read_bytes().count(b'\n["runs"') if path.exists() else 0


def started(folder, *arguments):
    """A scan in a process of its own, which has judged a few models when this returns."""
    argv = [sys.executable, "-m", "delegate_sim", "scan", "many.zip", "--delegate", "nnapi", "-o", "z.jsonl", *arguments]
    process = subprocess.Popen(
        argv,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell starts commands in the background with SIGINT ignored, which processes inherit.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL) if os.name == "posix" else None,  # noqa: PLW1509
    )
    for _ in range(3000):
        if journaled(folder) >= 8:
            return process
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.02)
    raise AssertionError("the scan did not begin")


def assert_complete(folder, count):
    rows = [json.loads(line) for line in (folder / "z.jsonl").read_text().splitlines()]
    assert Counter([row["model"] for row in rows]) == {f"many.zip!/{number:04}.tflite": 1 for number in range(count)}
    assert not [row for row in rows if row["error"]]
    causes = [json.loads(line) for line in (folder / "z.causes.jsonl").read_text().splitlines()]
    assert Counter([row["model"] for row in causes]) == Counter([row["model"] for row in rows])


def children(process):
    found = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(process.pid)], capture_output=True, text=True, check=False
    )
    lines = [line.split(None, 1) for line in found.stdout.splitlines()]
    return [int(pid) for pid, args in lines if "scan.worker" in args]


@pytest.mark.skipif(sys.platform != "linux", reason="uses ps as Linux has it")
def test_a_killed_worker_loses_and_duplicates_nothing(tmp_path):
    many(tmp_path, 120)
    process = started(tmp_path, "--processes", "2")
    workers = children(process)
    assert workers
    os.kill(workers[0], signal.SIGKILL)
    text, _ = process.communicate()
    assert process.returncode == 0, text
    assert_complete(tmp_path, 120)


@pytest.mark.skipif(sys.platform != "linux", reason="uses ps as Linux has it")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_scan_goes_on_where_it_was(tmp_path, how):
    many(tmp_path, 500)
    process = started(tmp_path, "--processes", "2")
    process.send_signal(how)
    process.communicate()
    assert process.returncode == (-signal.SIGKILL if how == signal.SIGKILL else 130)
    assert (tmp_path / "z.jsonl").exists() == (how == signal.SIGINT)
    argv = [sys.executable, "-m", "delegate_sim", "scan", "many.zip", "--delegate", "nnapi", "-o", "z.jsonl"]
    again = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=True)
    judged_now = int(again.stdout.split(": ")[1].split(" ")[0])
    assert judged_now <= 492
    assert_complete(tmp_path, 500)


def test_a_cluster_finds_the_same_although_a_worker_is_killed(zoo, tmp_path):
    distributed = pytest.importorskip("distributed", reason="--scheduler needs distributed")
    many(tmp_path, 60)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        models = [f"many.zip!/{number:04}.tflite" for number in range(60)]
        worker = next(iter(cluster.workers.values()))
        killed = []

        def show(done, total):
            if done >= 5 and not killed:
                killed.append(worker.pid)
                os.kill(worker.pid, signal.SIGKILL)

        found = scan(models, [NNAPI], "z.jsonl", Workers(scheduler=cluster.scheduler_address), show)
    assert judged(found) == (60, 0)
    assert_complete(tmp_path, 60)
    scan(models, [NNAPI], "here.jsonl", Workers())
    assert read("z.jsonl") == read("here.jsonl")


def test_a_scheduler_that_is_not_there(zoo, monkeypatch):
    pytest.importorskip("distributed", reason="--scheduler needs distributed")
    monkeypatch.setattr("delegate_sim.scan.scan._SECONDS_TO_CONNECT", 0.2)
    with pytest.raises(ScanError, match="no Dask scheduler answers"):
        scan(zoo, [NNAPI], "z.csv", Workers(scheduler="tcp://127.0.0.1:9"))


def test_the_causes_stand_beside_the_runs():
    assert causes_path("a/zoo.parquet") == "a/zoo.causes.parquet"
