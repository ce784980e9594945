"""Flags of delegates."""

from __future__ import annotations

import pytest

from delegate_sim.errors import OptionError
from delegate_sim_cli.options.delegate_flags import with_checked_paths
from tests.support.gate_models import classifier


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "m.tflite"
    classifier().write(path)
    return path


BOTH = ("--delegate", "nnapi", "--android", "11", "--android", "13")


def test_a_command_for_one_target_refuses_two_values_and_names_the_command_that_compares_them(run, model):
    result = run("whatif", model, *BOTH)
    assert result.exit_code == 2
    assert (
        "--android has two values, 11 and 13; delegate-sim compare MODEL --android 11 --android 13 compares them" in result.stderr
    )
    assert run("compare", model, "--android", "11", "--with", "android=13").exit_code == 0


def test_several_values_of_a_flag_are_compared(run, model):
    assert run("compare", model, *BOTH).stdout == run("compare", model, *BOTH[:4], "--with", "android=13").stdout
    rows = [line.split()[:3] for line in run("analyze", model, *BOTH).stdout.splitlines()]
    assert ["nnapi", "11", "4"] in rows
    assert ["nnapi", "13", "4"] in rows
    assert "give --android at most twice" in run("compare", model, *BOTH, "--android", "12").stderr
    levels = ("--feature-level", "27", "--feature-level", "30")
    words = "only one option may have several values, not --android and --feature-level"
    assert words in run("analyze", model, *BOTH, *levels).stderr


@pytest.mark.parametrize("command", ["diagnose", "releases", "analyze", "fix --plan", "diagnose --verbose"])
def test_each_command_for_several_delegates_has_a_target_for_each_value(run, model, command):
    """Each target has the name that ``analyze`` gives it."""
    name, *options = command.split()
    result = run(name, model, *options, *BOTH)
    assert "nnapi 11" in result.stdout
    assert "nnapi 13" in result.stdout


def test_files_for_each_value(run, model, tmp_path):
    scanned = run("scan", model, *BOTH, "-o", tmp_path / "scan.csv")
    assert "2 rows" in scanned.stdout
    reported = run("report", model, *BOTH, "-o", tmp_path / "page.html")
    assert "2 views" in reported.stdout
    assert "NNAPI on Android 11 " in reported.stdout
    assert "NNAPI on Android 13 " in reported.stdout
    run("export", "model-explorer", model, *BOTH, "--output", tmp_path / "overlay.json")
    assert sorted(path.name for path in tmp_path.glob("overlay*")) == ["overlay.nnapi-11.json", "overlay.nnapi-13.json"]


def test_many_models_keep_the_targets_of_each_value_apart(run, model, tmp_path):
    models = [model, *[tmp_path / f"{number}.tflite" for number in range(4)]]
    for path in models[1:]:
        path.write_bytes(model.read_bytes())
    for command in ("analyze", "diagnose", "releases"):
        rows = run(command, *models, *BOTH, "--format", "csv").stdout.splitlines()[1:]
        assert [row.split(",")[1] for row in rows] == ["nnapi 11", "nnapi 13"] * 5, command
        lines = run(command, *models, *BOTH).stdout.splitlines()
        assert sum(" nnapi 11 " in line for line in lines) >= 5, command
        assert sum(" nnapi 13 " in line for line in lines) >= 5, command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("analyze", "--delegate", "gpu", "--android", "11"),
            "no option --android here; it is an option of nnapi: give ",
        ),
        (("analyze", "--delegate", "gpu", "--option", "android=11"), "gpu has no option 'android'; it is an option of nnapi: "),
        (("diagnose", "--soc", "pixel10"), "npu-samsung: give --delegate npu-google --option soc=VALUE (see"),
        (
            ("compare", "--delegate", "npu-intel", "--soc", "LNL"),
            "give --delegate npu-intel --option soc=VALUE (see",
        ),
        (("analyze", "--delegate", "nnpai"), "there is no delegate 'nnpai'; did you mean nnapi, "),
        (("analyze", "--runtime", "2.15"), "there is no runtime '2.15'; did you mean tf-2.15? (the runtimes are tf-2.10 to tf-"),
    ],
)
def test_an_option_or_a_name_of_another_delegate(run, model, arguments, message):
    result = run(*arguments, model)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_value_may_be_repeated(run, model):
    once = run("analyze", model, "--delegate", "nnapi", "--android", "11")
    assert run("analyze", model, "--delegate", "nnapi", "--android", "11", "--nnapi-runtime", "11").stdout == once.stdout


def test_paths_in_options_are_checked():
    pairs = ["driver=d.toml", "devices=p.toml", "android=13", "driver_rejects=ADD", "other=x", "driver=a=b", "driver", "driver="]
    checked = []

    def check(path):
        checked.append(path)
        return f"/root/{path}"

    assert with_checked_paths("NNAPI", pairs, check) == [
        "driver=/root/d.toml", "devices=/root/p.toml", "android=13", "driver_rejects=ADD", "other=x", "driver=/root/a=b",
        "driver", "driver=",
    ]  # fmt: skip
    assert checked == ["d.toml", "p.toml", "a=b"]
    assert with_checked_paths("all", ["op_filters=f", "driver=d"], check) == ["op_filters=/root/f", "driver=/root/d"]
    assert with_checked_paths("npu-google", ["op_filters=filters { }", "op_filters= ", "op_filters=/etc/passwd"], check) == [
        "op_filters=filters { }", "op_filters= ", "op_filters=/root//etc/passwd",
    ]  # fmt: skip


def test_a_path_that_is_not_allowed_is_an_error():
    def check(path):
        raise OptionError(f"{path} is outside")

    with pytest.raises(OptionError, match=r"^/etc/passwd is outside$"):
        with_checked_paths("npu-google", ["op_filters=/etc/passwd"], check)
    with pytest.raises(OptionError, match="there is no delegate 'none'"):
        with_checked_paths("none", [], check)
