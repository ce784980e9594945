"""Logs that are made to take much time or memory: the work grows with the log, or the log is refused."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from delegate_sim.device.parse.delegate_identity import replacement_in
from delegate_sim.device.parse.error_meanings import LogMeanings, explained_errors, explained_notes
from delegate_sim.device.parse.known_lines import Statement, Statements
from delegate_sim.device.parse.log import ProcessReaders, join_logs, read_log, read_runs, read_runs_file
from delegate_sim.device.parse.log_contents import LONGEST_LINE, LogError
from delegate_sim.device.parse.log_runs import kernels_before, separate_runs
from delegate_sim.device.parse.log_summary import summary_of
from delegate_sim.device.parse.tables import Event
from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from tests.support.device.logs import SOURCES
from tests.support.work import calls

CREATED = "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"
REPLACED = "Replacing 3 node(s) with delegate (TfLiteXNNPackDelegate) node, yielding 1 partitions"
ROW = "OP_{0} 0.1 0.1 0.1% 0.1% 0.0 1 [a{0}]:{0}\n"
TABLE = "[node type] [first] [avg ms] [%] [cdf%] [mem KB] [times called] [Name]\n"
KINDS = {
    "process ids": lambda count: "".join(f"I/tflite({number}): x\n" for number in range(count)),
    "underscores": lambda count: "_" * (count * 20) + "\n",
    "lines without end": lambda count: CREATED + "x" * (count * 500),
    "escaped line breaks": lambda count: "delegate" + "\\n" * count,
    "rows": lambda count: TABLE + "".join(map(ROW.format, range(count))),
    "rows of the Edge TPU's compiler": lambda count: (
        "Edge TPU Compiler version 16.0\nOperator   Count   Status\n"
        + "".join(f"A{n}  1  Mapped to Edge TPU\n" for n in range(count))
    ),
    "runs": lambda count: "STARTING!\nGraph: [x]\n" * count,
    "errors before commands": lambda count: (
        "".join(f"E/tflite(1): oops {n}\n" for n in range(count)) + "benchmark --a=b\n" * count
    ),
    "accelerators": lambda count: "".join(f"A{n} accelerator could not be registered\n" for n in range(count)),
    "replacements": lambda count: f"{REPLACED}.\n" * count,
    "replacements of subgraphs": lambda count: "".join(f"{REPLACED} for subgraph {n}.\n" for n in range(count)),
    "errors of nodes": lambda count: "".join(f"Node number {n} (A{n}) failed to prepare.\n" for n in range(count)),
    "refused operators": lambda count: (
        "Following operations are not supported by GPU delegate:\n" + "".join(f"ADD_{n}: x\n" for n in range(count))
    ),
    "choices of devices": lambda count: (
        "".join(f"findBestDeviceForEachOperation(ADD:{n}) = 0 (x)\n" for n in range(count))
        + "partitionTheWork: only one best device: 1 = x\n" * count
    ),
    "identical lines": lambda count: (
        (
            "01-01 00:00:00.000  1  1 I Manager : findBestDeviceForEachOperation(ADD) = 0 (x)\n"
            "01-01 00:00:00.000  1  1 I chatty : identical 9 lines\n"
        )
        * count
    ),
}


MEANINGS = {
    "errors of kernels": lambda count: (
        "".join(f"{REPLACED} for subgraph {n}.\n".replace("3 node", f"3 out of {9 + n} node") for n in range(count))
        + "".join(f"Node number {9 + n} (TfLiteXNNPackDelegate) failed to prepare.\n" for n in range(count))
    ),
    "errors of kernels after a delegate's own counts": lambda count: (
        "".join(f"GPU: {n} nodes delegated out of {9 + n} nodes with 1 partitions.\n" for n in range(count))
        + "".join(f"Node number {9 + n} (TfLiteGpuDelegateV2) failed to prepare.\n" for n in range(count))
    ),
    "missing operators": lambda count: "".join(
        f"Didn't find op for builtin opcode 'A{n}' version '{n}'.\n" for n in range(count)
    ),
    "accelerators beside failures": lambda count: "".join(
        f"[a.cc:{n}] NPU accelerator could not be loaded: {n}\nERROR: [b.cc:{n}] Failed to create {n}\n" for n in range(count)
    ),
    "delegates of subgraphs without numbers": lambda count: (
        "".join(f"{REPLACED}.\n".replace("3 node", f"3 out of {9 + n} node") for n in range(count))
        + "".join(f"{REPLACED}.\n".replace("3 node", f"3 out of {7 + n} node").replace("XNNPack", "Gpu") for n in range(count))
    ),
}


def summarized(path):
    return [summary_of(log) for log in separate_runs(read_runs_file(path, SOURCES))]


@pytest.mark.parametrize("kind", KINDS)
def test_twice_the_log_is_twice_the_work(kind, tmp_path):
    paths = []
    for count in (0, 100, 200):
        paths.append(tmp_path / f"{count}.log")
        paths[-1].write_text(KINDS[kind](count) + CREATED, encoding="utf-8")
    SOURCES.of("load the table")
    summarized(str(paths[0]))
    none, once, twice = (calls(summarized, str(path)) for path in paths)
    assert twice - none < 2.6 * (once - none) + 500


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("underscores", "lines without end")])
def test_a_log_beyond_the_limit_is_one_line(kind, tmp_path, monkeypatch):
    path = tmp_path / "device.log"
    path.write_text(KINDS[kind](3000), encoding="utf-8")
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 20_000)
    with pytest.raises(LogError, match=r"device\.log: reading the log takes more than the limit of 20,000 steps; "):
        read_runs_file(str(path))


@pytest.mark.parametrize("kind", MEANINGS)
def test_the_meaning_of_a_line_does_not_need_all_lines_again(kind):
    def meanings(log):
        return explained_errors(log), explained_notes(log), [*kernels_before(log)]

    meanings(read_log(MEANINGS[kind](9)))  # imports modules
    none, once, twice = (calls(meanings, read_log(MEANINGS[kind](count) + CREATED)) for count in (0, 200, 400))
    assert twice - none < 2.6 * (once - none)


class Counted:
    """A collection that counts the items that are read one after another."""

    read = 0

    def __iter__(self):
        for item in super().__iter__():
            self.read += 1
            yield item


class CountedList(Counted, list):
    pass


class CountedDict(Counted, dict):
    pass


class CountedSet(Counted, set):
    pass


@pytest.mark.parametrize("line", ["E tflite  : Op 1: not supported", "F libc    : Fatal signal 6 (SIGABRT)"])
def test_a_line_of_a_process_does_not_read_all_processes(line):
    processes = ProcessReaders(SOURCES)
    processes.readers, processes.crashed = counted = CountedDict(processes.readers), CountedSet(processes.crashed)
    for number in range(1, 200):
        processes.read(f"11-20 12:00:00.000  {number}  {number} {line}\n")
    assert max(map(len, counted)) >= 199
    assert [each.read for each in counted] == [0, 0]


@pytest.mark.parametrize("content", ['{"runtime_profile": [' + "{}," * 5000 + "{}]}", b"\x1a\x80\x02\x0a" + bytes(9000)])
def test_profile_files_beyond_the_limit(content, tmp_path, monkeypatch):
    path = tmp_path / "profile"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10_000)
    with pytest.raises(LogError, match="takes more than the limit"):
        read_runs_file(str(path))


def test_a_long_line_is_cut(tmp_path):
    path = tmp_path / "device.log"
    path.write_text("x" * (3 * LONGEST_LINE) + f" {REPLACED}.\n{CREATED}", encoding="utf-8")
    (log,) = read_runs_file(str(path))
    assert (log.long_lines, log.line_count, log.replacements, bool(log.created)) == (1, 2, [], True)
    note = f"the log has 1 line of more than {LONGEST_LINE:,} characters; only the beginning of such a line is read"
    assert (note, "") in explained_notes(log)
    assert join_logs([("a", log), ("b", log)]).long_lines == 2


def test_lines_up_to_the_limit_are_whole(tmp_path):
    path = tmp_path / "device.log"
    path.write_text("x" * (LONGEST_LINE - 1) + f"\n{CREATED}" + "x" * LONGEST_LINE, encoding="utf-8")
    (log,) = read_runs_file(str(path))
    assert (log.long_lines, log.line_count) == (0, 3)


def test_simulated_lines_have_a_budget_of_their_own(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1000)
    with work_budget.work_budget():
        for _ in range(100):
            assert read_log(CREATED).created


def test_the_name_of_a_subgraph():
    assert replacement_in(f"{REPLACED} for subgraph 1 (a (b)).").name == "a (b)"


def test_repeated_choices_cost_steps_for_the_devices_that_refuse_them(monkeypatch):
    tag = "01-01 00:00:00.000  1  1 I "
    refused = "".join([f"{tag}ExecutionPlan: Device d{number} can't do operation ADD:0\n" for number in range(50)])
    choice = f"{tag}ExecutionPlan: ModelBuilder::findBestDeviceForEachOperation(ADD:0) = 0 (dsp)\n"
    lines = f"{choice}{tag}chatty  : uid=1 identical 100 lines\n"
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 2_000)
    with work_budget.work_budget():
        assert len(read_log(lines).runtime.compilations[0].choices) == 101
    with work_budget.work_budget(), pytest.raises(LimitError, match="reading the log"):
        read_log(refused + lines)


@pytest.mark.parametrize(("delegates", "fits"), [(10, True), (100, False)])
def test_each_delegate_that_reads_all_rows_of_a_table_costs_steps(monkeypatch, delegates, fits):
    counts = "".join(f"Other{n}: 3 nodes delegated out of 9 nodes with 1 partitions.\n" for n in range(delegates))
    log = read_log(counts + TABLE + "".join(map(ROW.format, range(100))))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10_000)
    with work_budget.work_budget(), nullcontext() if fits else pytest.raises(LimitError, match="reading the log"):
        assert len(summary_of(log).others) == delegates - 1


@pytest.mark.parametrize("varying", ["1" * 170, " " * 190, ("0x" + "1" * 16) * 9, "1x" * 80])
@pytest.mark.parametrize("other", ["1" * 170, " " * 2000, "0x" * 170])
def test_a_learned_prefix_matches_in_one_way_only(varying, other):
    """With several adjacent repetitions, the second line would take years."""
    log = read_log(f"<{varying}> {CREATED}<{other}X foo\n<{varying}> {REPLACED}.\n")
    assert (len(log.replacements), log.unused) == (1, (f"<{other}X foo",))


def test_a_failure_above_a_failed_kernel_does_not_read_all_its_lines():
    statements = Statements()
    for place in range(1, 100):
        statements.add(Statement(Event.PLAIN_ERROR, "x", {}), place)
    statements.places = {key: CountedList(places) for key, places in statements.places.items()}
    assert (statements.latest_at(99).line, statements.latest_at(98)) == ("x", None)
    assert [places.read for places in statements.places.values()] == [0]


def test_the_kernels_before_a_line_are_few_names():
    lines = "".join(f"{REPLACED.replace('TfLiteXNNPackDelegate', f'K{n}')} for subgraph 0.\n" for n in range(50))
    meanings = LogMeanings(read_log(lines.replace("3 node", "1 out of 9 node")))
    assert [len(kernels.names) for kernels in meanings._kernels[0]] == [1, *[2] * 49]


def test_runs_of_a_process_share_few_lines_and_chips():
    lines = "".join([f"GPU accelerator could not be registered\nSM{1000 + n}\n{REPLACED} for subgraph 0.\n" for n in range(200)])
    runs = read_runs(lines.splitlines(keepends=True))
    assert len(runs) == 200
    assert max(len(statement.places) for run in runs for statement in run.statements) <= 2
    assert runs[-1].statements[0].times == 200
    assert len(runs[-1].chips) == 64


def test_a_summary_costs_steps(monkeypatch):
    log = read_log("".join([f"A{n} accelerator could not be registered\n" for n in range(50)]))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 9_000)
    with work_budget.work_budget(), pytest.raises(LimitError, match="reading the log"):
        [summary_of(log) for _ in range(9)]
