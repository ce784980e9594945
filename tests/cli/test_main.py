from __future__ import annotations

import os
import pty
import subprocess
import sys

import click
import pytest

import delegate_sim
from delegate_sim_cli.commands.analyze import analysis
from delegate_sim_cli.main import program
from fixtures.builder import ModelBuilder
from tests.support.cli.clicks import NEEDS_NEWER_CLICK
from tests.support.models import chain_model

COMMANDS = tuple(program.list_commands(click.Context(program)))


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
        timeout=60,
    )


def on_terminal(*arguments, **environment):
    """Run the program with a terminal as standard output and return what it writes."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment}
    environment.pop("COLORTERM", None)
    with subprocess.Popen([sys.executable, "-m", "delegate_sim", *map(str, arguments)], stdout=slave, env=environment) as process:
        os.close(slave)
        written = b""
        while True:
            try:
                chunk = os.read(master, 65536)
            except OSError:
                break
            if not chunk:
                break
            written += chunk
    os.close(master)
    assert process.returncode == 0
    return written.decode().replace("\r\n", "\n")


def test_version(run):
    assert run("--version").stdout == f"delegate-sim {delegate_sim.__version__}\n"


def test_help_lists_the_commands_exit_codes_and_completion(run):
    text = run("--help").stdout
    for command in COMMANDS:
        assert f"\n  {command} " in text
    assert 'eval "$(_DELEGATE_SIM_COMPLETE=bash_source delegate-sim)"' in text
    assert "\n    70   " in text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples(run, command):
    result = run(command, "--help", COLUMNS="80")
    assert result.exit_code == 0
    assert "\n\n  Example" in result.stdout
    assert f"\n    delegate-sim {command}" in result.stdout or command == "mcp"
    assert f"\n\n{' ' * 6}" not in result.stdout.partition("Examples:")[2]
    shown = program.get_command(click.Context(program), command)
    # The help on a terminal with 80 columns, which is narrower than that of click's test runner.
    text = shown.get_help(click.Context(shown, info_name=command, terminal_width=78))
    assert text.count("\n") < 63
    # Commands are not wrapped, so that they can be copied.
    assert [line for line in text.splitlines() if len(line) > 80 and not line.startswith(("    delegate-sim ", "    {"))] == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("rules", "--op", "ABS"),
        ("rules", "--op", "ABS", "--format", "markdown"),
        ("rules", "--changes", "--delegate", "xnnpack", "--format", "json"),
        ("explain",),
        ("explain", "nnapi-operator", "--format", "json"),
        ("explain", "--log", "{log}"),
        ("doctor",),
        ("doctor", "--format", "json"),
        ("reconcile", "{model}", "--log", "{log}"),
        ("reconcile", "{model}", "--log", "{log}", "--format", "json"),
    ],
)
def test_output_goes_to_a_file_that_only_force_replaces(run, model, tmp_path, arguments):
    log = tmp_path / "log.txt"
    log.write_text(
        "Replacing 1 out of 4 node(s) with delegate (TfLiteNnapiDelegate) node, yielding 2 partitions for subgraph 0.\n", "utf-8"
    )
    output = tmp_path / "output"
    arguments = [argument.format(model=model, log=log) for argument in arguments]
    expected = run(*arguments).stdout
    assert run(*arguments, "-o", output).stdout == ""
    assert output.read_text("utf-8") == expected
    output.write_text("old", "utf-8")
    refused = run(*arguments, "--output", output)
    assert (refused.exit_code, refused.stderr) == (2, f"error: {output}: already exists; --force replaces it\n")
    run(*arguments, "--output", output, "--force")
    assert output.read_text("utf-8") == expected


@pytest.mark.parametrize(("former", "command"), [("analyse", "analyze"), ("diff", "verify")])
def test_other_names_of_commands_are_hidden_and_understood(run, former, command):
    assert run(former, "--help").stdout.splitlines()[1:] == run(command, "--help").stdout.splitlines()[1:]
    assert f"\n  {former} " not in run("--help").stdout


@NEEDS_NEWER_CLICK
@pytest.mark.parametrize("arguments", [[], ["analyze"], ["inspect"]])
def test_help_is_shown_where_nothing_is_asked_for(run, arguments):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Usage: delegate-sim")


def test_unknown_command(run):
    result = run("analyses")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert result.stderr.startswith("error: there is no command 'analyses'; did you mean analyze?")


def failing(error):
    def fail(*_):
        raise error

    return fail


def test_internal_error(run, model, monkeypatch):
    monkeypatch.setattr(analysis, "read_model", failing(ValueError("two\nlines")))
    result = run("analyze", model)
    assert (result.exit_code, result.stdout) == (70, "")
    assert result.stderr == (
        "error: internal error: ValueError: two\\nlines; please report this error with the model, the command line and the "
        "output of a run with DELEGATE_SIM_DEBUG=1\n"
    )


def test_traceback_on_request(run, model, monkeypatch):
    monkeypatch.setattr(analysis, "read_model", failing(ValueError("wrong")))
    result = run("analyze", model, DELEGATE_SIM_DEBUG="1")
    assert result.exit_code == 70
    assert result.stderr.startswith("Traceback (most recent call last):\n")


def test_interrupt(run, model, monkeypatch):
    monkeypatch.setattr(analysis, "read_model", failing(KeyboardInterrupt()))
    assert run("analyze", model).exit_code == 130


def test_as_a_module(model):
    result = python("-m", "delegate_sim", "analyze", model, "--delegate", "nnapi")
    assert result.returncode == 0
    assert result.stdout.startswith("NNAPI on Android 13 runs 50 % of nodes")
    result = python("-m", "delegate_sim", "analyze", f"{model}.missing")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"error: {model}.missing: No such file or directory\n"


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    builder = ModelBuilder()
    builder.subgraph("main").input("x" * 500_000, "FLOAT32", [1])
    builder.write(tmp_path / "model.tflite")
    command = [sys.executable, "-m", "delegate_sim", "inspect", "--format", "json", tmp_path / "model.tflite"]
    # Without a buffer, Python takes a write that ends early for complete.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_names_that_the_encoding_of_the_output_lacks(model):
    result = python("-m", "delegate_sim", "analyze", model, model.with_name("grün"), PYTHONIOENCODING="ascii")
    assert result.returncode == 2
    assert result.stderr.endswith("gr\\xfcn: No such file or directory\n")


def test_color_on_a_terminal(run, model):
    text = on_terminal("analyze", model, "--delegate", "nnapi")
    lines = run("analyze", model, "--delegate", "nnapi").stdout.splitlines()
    assert text.startswith(f"\x1b[1m{lines[0]}\x1b[0m\n\n{lines[2]}\n{lines[3]}\n")
    assert "\x1b[1mCoverage\x1b[0m\n" in text


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_color_where_it_is_not_wanted(run, model, environment):
    assert on_terminal("analyze", model, **environment) == run("analyze", model).stdout


def modules_after(*arguments):
    """Return which modules a run of the program has imported."""
    script = (
        "import sys, delegate_sim_cli.main as m\n"
        f"sys.argv = {['delegate-sim', *map(str, arguments)]!r}\n"
        "try: m.main()\n"
        "except SystemExit: print(*sys.modules, sep='\\n', file=sys.stderr)\n"
    )
    return set(python("-c", script).stderr.splitlines())


def test_analyze_imports_no_more_than_it_needs(model, tmp_path):
    unused = {"numpy", "rich", "tabulate", "tempfile"}
    modules = modules_after("analyze", model, "--delegate", "nnapi")
    assert "delegate_sim.runtime.interpreter" in modules
    assert modules.isdisjoint(unused)
    chain_model(["ADD"]).write(tmp_path / "taken.tflite")
    # Only a hint may name other delegates.
    modules = modules_after("analyze", tmp_path / "taken.tflite", "--delegate", "nnapi")
    assert modules.isdisjoint({*unused, "shlex"})
    rooms = {name.split(".")[1] for name in modules if name.startswith("delegate_sim.")}
    assert rooms.isdisjoint(
        {
            "conversion",
            "device",
            "diagnosis",
            "export",
            "fixing",
            "gate",
            "inference",
            "live",
            "page",
            "scan",
            "sweeping",
            "versions",
        }
    )
    shared = {"base", "decision", "nnapi", "options", "registry", "traits"}
    assert {name.split(".")[2] for name in modules if name.startswith("delegate_sim.delegates.")} == shared
    assert not {name for name in modules if name.startswith(("delegate_sim_cli.formats.", "delegate_sim_cli.text.many"))}


def test_analyze_imports_the_planner_of_nnapi_only_for_a_profile_of_devices(tmp_path):
    nnapi = "delegate_sim.delegates.nnapi"
    explaining = {f"{nnapi}.{name}" for name in ("driver_interface", "refusals")}
    planning = {f"delegate_sim.nnapi_runtime.{name}" for name in ("compilation", "devices")}
    model, profile = tmp_path / "model.tflite", tmp_path / "devices.toml"
    chain_model(["ADD"]).write(model)
    modules = modules_after("analyze", model, "--delegate", "nnapi")
    assert modules.isdisjoint(
        {*explaining, *planning, "delegate_sim.nnapi_runtime.cases", "delegate_sim.runtime.compiler_plugins"}
    )
    profile.write_text('schema = "delegate-sim/devices/1"\n[[devices]]\nname = "npu"\nfeature_level = 30\n', encoding="utf-8")
    modules = modules_after("analyze", model, "--delegate", "nnapi", "--devices", profile)
    assert planning <= modules
    assert modules.isdisjoint(explaining)


def test_help_imports_no_command():
    modules = modules_after("--help")
    assert "click" in modules
    assert modules.isdisjoint({"numpy", "rich", "delegate_sim", "delegate_sim_cli.commands.analyze"})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ana", "plain,analyze"),
        ("analyze --nnapi-allow-f", "plain,--nnapi-allow-fp16"),
        ("analyze --delegate gpu --gpu-b", "plain,--gpu-backend"),
        ("analyze --runtime litert-2.3 --defaults b", "plain,benchmark"),
        ("scan --runtime tf-2.17", "plain,tf-2.17"),
        ("analyze --soc pixel9", "plain,pixel9 plain,pixel9pro plain,pixel9a"),
        ("analyze --soc MT699", "plain,mt6991 plain,mt6993"),
        ("reconcile --soc intel:L", "plain,intel:LNL"),
        ("analyze --soc sams", "plain,samsung:E9965 plain,samsung:E9955"),
        ("explain nnapi-missing-b", "plain,nnapi-missing-bias"),
    ],
)
def test_shell_completion(run, words, expected):
    words = f"delegate-sim {words}"
    environment = {
        "_DELEGATE_SIM_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1),
    }  # fmt: skip
    assert run(**environment).stdout.split() == expected.split()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explane"], "there is no command 'explane'; did you mean explain?"),
        (["modle.tflite"], "there is no file and no command 'modle.tflite'"),
        (["README.md"], "a command comes first, such as: delegate-sim analyze README.md"),
        (["explain", "foo"], "there is no code foo; `delegate-sim rules --delegate NAME` lists the codes"),
    ],
)
def test_a_wrong_first_word_suggests_a_command(run, arguments, message):
    result = run(*arguments)
    assert (result.exit_code, message in " ".join(result.stderr.split())) == (2, True)
