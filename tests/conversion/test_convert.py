import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from delegate_sim.conversion.cache import ConversionCache
from delegate_sim.conversion.calibration import Calibration
from delegate_sim.conversion.convert import FailureKind, convert, error_line
from delegate_sim.conversion.converters import Converter, Limits, Route
from delegate_sim.conversion.scripts import scripts
from delegate_sim.conversion.settings import FLOAT, Settings, parse_settings
from delegate_sim.conversion.sources import find_source
from delegate_sim.errors import OptionError
from tests.support.conversion.fake_converters import make_source, processes_with

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory and stray processes are watched on Linux")
INT8 = Settings("int8")
STOPPED = "tensorflow was stopped because"


@pytest.fixture
def attempt(tmp_path, fake_route, cache):
    def run(name, settings=FLOAT, limits=None, **more):
        return convert(find_source(make_source(tmp_path, name)), fake_route, settings, cache, limits=limits, **more)

    return run


def test_a_model_is_converted_and_kept(attempt, cache):
    found = attempt("good")
    assert found.failure is None
    assert found.printed.splitlines()[0] == "converting"
    content = Path(found.path).read_bytes()
    assert content[4:8] == b"TFL3"
    assert (found.size, os.path.dirname(found.path)) == (len(content), cache.folder)


def test_what_runs_is_what_is_shown(tmp_path, attempt, fake_python):
    """The text as it is shown writes the same model when it is pasted into the converter's Python."""
    found = attempt("good", INT8)
    subprocess.run([fake_python, "-c", found.code], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "model.tflite").read_bytes() == Path(found.path).read_bytes()


@pytest.mark.parametrize(
    ("name", "limits", "kind", "words"),
    [
        ("crashing", Limits(), FailureKind.CRASHED, "tensorflow crashed (SIGSEGV)"),
        ("hanging", Limits(seconds=1), FailureKind.TIMED_OUT, "tensorflow was stopped after 1 seconds"),
        (
            "chatting",
            Limits(printed=1 << 20),
            FailureKind.TOO_LARGE,
            f"{STOPPED} it had printed more than 1 MiB",
        ),
        ("writing", Limits(output=1 << 20), FailureKind.TOO_LARGE, f"{STOPPED} it had written 1 MiB of files"),
        ("quiet", Limits(), FailureKind.ERROR, "tensorflow: ended with status 3 without a message"),
        ("strange", Limits(), FailureKind.ERROR, "tensorflow finished, but its output is not a TFLite model"),
        pytest.param(
            *("greedy", Limits(memory=200 << 20), FailureKind.OUT_OF_MEMORY),
            f"{STOPPED} it used more memory than 200 MiB",
            marks=needs_linux,
        ),
    ],
)
def test_a_failure_is_one_line(attempt, name, limits, kind, words):
    found = attempt(name, limits=limits)
    assert found.failure is not None
    assert (found.failure.kind, found.failure.line) == (kind, words)
    assert found.path == ""


@needs_linux
def test_no_process_is_left_of_a_converter_that_hangs(attempt):
    attempt("hanging", limits=Limits(seconds=1))
    assert not processes_with("straggler")


def test_what_a_converter_says_is_made_safe_and_short(attempt):
    found = attempt("failing")
    assert found.failure is not None
    line = found.failure.line
    assert line.startswith("tensorflow: ValueError: cannot convert ")
    assert line.isprintable()
    assert len(line) == 300
    assert "first line" in found.printed.splitlines()
    assert "\x1b" not in found.printed


def test_a_chatting_converter_leaves_little(attempt):
    found = attempt("chatting", limits=Limits(printed=8 << 20))
    assert len(found.printed) <= 64 << 10


def test_a_missing_converter_says_what_to_install(tmp_path, cache):
    route = Route(Converter("tensorflow", install="pip install '.[sweep-tf]'"))
    found = convert(find_source(make_source(tmp_path, "good")), route, FLOAT, cache)
    assert found.failure is not None
    assert found.failure.kind is FailureKind.MISSING
    assert found.failure.line == "tensorflow is not installed: pip install '.[sweep-tf]'"
    assert found.code.startswith("# tensorflow (not installed)\n")


def test_an_interpreter_that_has_gone_is_a_failure(tmp_path, cache):
    route = Route(Converter("tensorflow", "9.9.1", str(tmp_path / "gone")))
    found = convert(find_source(make_source(tmp_path, "good")), route, FLOAT, cache)
    assert found.failure is not None
    assert found.failure.kind is FailureKind.CRASHED
    assert "No such file" in found.failure.line


def test_settings_that_a_route_does_not_know_are_refused(tmp_path, fake_route, cache):
    source = find_source(make_source(tmp_path, "good"))
    with pytest.raises(OptionError, match="tensorflow does not support the setting float\\+channels-last"):
        convert(source, fake_route, parse_settings("float+channels-last"), cache)


class TestWhatIsKept:
    @pytest.fixture
    def runs(self, tmp_path, monkeypatch):
        note = tmp_path / "runs"
        note.touch()
        monkeypatch.setenv("FAKE_NOTE", str(note))
        return lambda: len(note.read_text().splitlines())

    def test_a_second_run_runs_nothing(self, attempt, runs):
        first, second = attempt("good"), attempt("good")
        assert runs() == 1
        assert (first.is_kept, second.is_kept) == (False, True)
        assert (second.path, second.digest, second.seconds, second.code) == (first.path, first.digest, first.seconds, first.code)

    def test_another_folder_of_the_same_content_runs_nothing(self, tmp_path, attempt, runs, fake_route, cache):
        attempt("good")
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "good.keras").write_bytes((tmp_path / "good.keras").read_bytes())
        found = convert(find_source(str(tmp_path / "other" / "good.keras")), fake_route, FLOAT, cache)
        assert found.is_kept
        assert "other/good.keras" in found.code

    def test_other_settings_data_and_versions_run_again(self, tmp_path, attempt, runs, fake_converter, cache):
        attempt("good")
        attempt("good", INT8)
        attempt("good", INT8, calibration=Calibration(count=1))
        assert runs() == 3
        newer = Converter("tensorflow", "9.9.2", fake_converter.python)
        convert(find_source(str(tmp_path / "good.keras")), Route(newer), FLOAT, cache)
        assert runs() == 4

    def test_data_counts_only_where_it_is_used(self, attempt, runs):
        attempt("good")
        assert attempt("good", calibration=Calibration(count=1)).is_kept

    def test_a_failure_is_kept(self, attempt, runs):
        attempt("failing")
        found = attempt("failing")
        assert found.is_kept
        assert found.failure is not None
        assert runs() == 1

    def test_a_broken_limit_is_kept_for_limits_that_are_no_greater(self, attempt, runs):
        attempt("hanging", limits=Limits(seconds=0.8))
        assert attempt("hanging", limits=Limits(seconds=0.7)).is_kept
        assert not attempt("hanging", limits=Limits(seconds=0.9)).is_kept

    @pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 1}', b"\xff\0", b"[" * 100_000])
    def test_a_damaged_entry_is_made_again(self, attempt, runs, cache, damage):
        attempt("good")
        [entry] = Path(cache.folder).glob("*.json")
        entry.write_bytes(damage)
        assert not attempt("good").is_kept
        assert attempt("good").is_kept

    @pytest.mark.parametrize("field", ["digest", "failure", "seconds", "memory", "size", "printed"])
    def test_an_entry_without_a_field_is_made_again(self, attempt, runs, cache, field):
        attempt("good")
        [entry] = Path(cache.folder).glob("*.json")
        content = json.loads(entry.read_text())
        del content[field]
        entry.write_text(json.dumps(content))
        assert not attempt("good").is_kept

    def test_a_damaged_or_missing_model_is_made_again(self, attempt, runs):
        found = attempt("good")
        Path(found.path).write_bytes(b"else")
        assert not attempt("good").is_kept
        os.unlink(found.path)
        again = attempt("good")
        assert not again.is_kept
        assert Path(again.path).is_file()

    def test_without_a_folder_it_is_temporary(self, tmp_path, fake_route):
        with ConversionCache(None) as cache:
            path = convert(find_source(make_source(tmp_path, "good")), fake_route, FLOAT, cache).path
            assert os.path.isfile(path)
        assert not os.path.exists(cache.folder)


_RUN = """
import sys
from delegate_sim.conversion.cache import ConversionCache
from delegate_sim.conversion.convert import convert
from delegate_sim.conversion.converters import Converter, Route
from delegate_sim.conversion.settings import FLOAT
from delegate_sim.conversion.sources import find_source
route = Route(Converter("tensorflow", "9.9.1", sys.argv[2]))
found = convert(find_source(sys.argv[1]), route, FLOAT, ConversionCache(sys.argv[3]))
print(found.digest)
"""


def start(tmp_path, name, python):
    # A shell that runs this in the background has SIGINT ignored.
    code = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n{_RUN}"
    command = [sys.executable, "-c", code, make_source(tmp_path, name), python, str(tmp_path / "cache")]
    return subprocess.Popen(command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_runs_at_once_share_a_cache(tmp_path, fake_python):
    source = make_source(tmp_path, "good")
    both = [start(tmp_path, "good", fake_python) for _ in range(2)]
    digests = [each.communicate(timeout=120)[0].strip() for each in both]
    assert os.path.isfile(source)
    assert digests[0] == digests[1] != ""
    assert sorted(path.suffix for path in (tmp_path / "cache").iterdir()) == [".json", ".tflite"]


@needs_linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_a_run_that_is_ended(tmp_path, fake_python, monkeypatch, number):
    note = tmp_path / "note"
    monkeypatch.setenv("FAKE_NOTE", str(note))
    running = start(tmp_path, "hanging", fake_python)
    wait_until(lambda: note.exists() and processes_with("straggler"))
    converter = int(note.read_text())
    running.send_signal(number)
    running.communicate(timeout=60)
    wait_until(lambda: not processes_with("straggler") and not Path(f"/proc/{converter}").exists())


def wait_until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("printed", "line"),
    [
        ("", ""),
        ("one\ntwo\n", "two"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a'\nlater", "KeyError: 'a'"),
        (
            "Traceback (most recent call last):\n  File x\na.b.ConverterError: \n<unknown>: no\n",
            "a.b.ConverterError: <unknown>: no",
        ),
        (
            "Traceback (most recent call last):\n  File x\n"
            'a.ConverterError: <unknown>:0: error: loc(callsite("A:" at "B")): \'X\' '
            "needs (a): b\n<unknown>:0: note: loc(x): called from\n<unknown>:0: error: lowering failed\n",
            "a.ConverterError: 'X' needs (a): b; lowering failed",
        ),
        ("Traceback (most recent call last):\n  File x\nValueError: an error: bad\n", "ValueError: an error: bad"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'a'\nx.cc:1: error: late", "KeyError: 'a'"),
        ("\x1b[31mERROR: bad\x1b[0m\nRead this.", "ERROR: bad"),
        ("10%\r20%\rdone", "done"),
        (
            "Traceback (most recent call last):\n  x\nValueError: weights\n\n"
            "The above exception was the direct cause of the following exception:\n\n"
            "Traceback (most recent call last):\n  y\nRuntimeError: failed\n",
            "RuntimeError: failed; cause: ValueError: weights",
        ),
        (
            "Traceback (most recent call last):\n  x\nKeyError: 1\n\n"
            "During handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\n  y\nRuntimeError: failed\n",
            "RuntimeError: failed",
        ),
    ],
)
def test_the_line_of_an_error(printed, line):
    assert error_line(printed) == line


def test_settings_reach_the_converter(attempt):
    content = Path(attempt("good", parse_settings("int8+dense-per-tensor+unfolded")).path).read_bytes()
    for name in (b"_experimental_disable_per_channel_quantization_for_dense_layers", b"unfold_batchmatmul", b"optimizations"):
        assert name in content


def test_a_quantizer_goes_on_from_what_is_kept(tmp_path, fake_converter, cache):
    """The second step fails, as the environment has no quantizer; the first one is kept."""
    source = find_source(make_source(tmp_path, "good"))
    quantizer = Converter("ai-edge-quantizer", "9.9", fake_converter.python)
    found = convert(source, Route(fake_converter, quantizer), INT8, cache)
    assert found.failure is not None
    assert found.failure.line == "ai-edge-quantizer: ModuleNotFoundError: No module named 'ai_edge_quantizer'"
    assert convert(source, Route(fake_converter), FLOAT, cache).is_kept
    first, second = scripts(source, found.route, INT8)
    assert first.text in found.code
    assert second.text in found.code
