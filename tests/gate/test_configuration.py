from __future__ import annotations

import json

import pytest

from delegate_sim.bundles.model_files import FilePattern
from delegate_sim.foundation import work_budget
from delegate_sim.gate import configuration as configuration_module
from delegate_sim.gate import configuration_table
from delegate_sim.gate.budgets import Allowance, Budgets, Tolerance
from delegate_sim.gate.configuration import ConfigurationError, find_configuration, matches, read_configuration
from delegate_sim.gate.configuration_table import Ignored, without_ignored
from delegate_sim.gate.results import FAILED, PASSED, UNREADABLE, Case
from delegate_sim.results.report.findings import ERROR, NOTE, Finding
from delegate_sim.version import __version__

WHOLE = """\
required-version = ">=0.0.1, <100"
models = ["models/**/*.tflite", "other.tflite"]
exclude = ["models/old/*"]
baseline = "ci/baseline.json"
runtime = "tf-2.15"
defaults = "api"

[budgets]
max-partitions = 4
min-delegated-share = "90 %"
min-multiply-add-share = "80 %"
forbid-fallback-ops = ["CONV_2D"]
tolerance = { partitions = 1, border-bytes = "5 %", delegated-share = 0.01, multiply-add-share = 0.02 }

[targets.pixel]
delegate = "nnapi"
options = { feature-level = 31, driver_rejects = ["ADD"] }

[targets.gpu]
delegate = "gpu"
runtime = "litert-2.1"
defaults = "benchmark"
models = ["models/vision/*.tflite"]
budgets = { max-partitions = 1, max-fallback = 0 }

[[overrides]]
models = ["models/vision/*.tflite"]
max-partitions = 7
tolerance = { fallback-nodes = "10%" }

[[overrides]]
targets = ["gpu"]
max-fallback = 9
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="delegate-sim.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def described(target):
    on = target.target
    return target.name, on.delegate.name, str(on.release), on.defaults


def test_everything_is_read(write, tmp_path):
    configuration = read_configuration(write(WHOLE))
    assert configuration.root == str(tmp_path)
    assert configuration.models == ("models/**/*.tflite", "other.tflite")
    assert configuration.baseline == str(tmp_path / "ci/baseline.json")
    pixel, gpu = configuration.targets
    assert [described(target) for target in configuration.targets] == [
        ("pixel", "nnapi", "tf-2.15", "api"),
        ("gpu", "gpu", "litert-2.1", "benchmark"),
    ]
    assert (pixel.target.options["feature_level"], pixel.target.options["driver_rejects"]) == (31, ("ADD",))
    assert configuration.concerns(pixel, "other.tflite")
    assert not configuration.concerns(gpu, "other.tflite")


def test_budgets_come_from_the_nearest_place(write):
    configuration = read_configuration(write(WHOLE))
    pixel, gpu = configuration.targets
    tolerance = Tolerance(Allowance(1), border_bytes=Allowance(share=0.05), delegated_share=0.01, multiply_add_share=0.02)
    general = Budgets(4, 0.9, None, ("CONV_2D",), tolerance, 0.8)
    assert configuration.budgets_of([pixel], "other.tflite") == [general]
    (vision,) = configuration.budgets_of([gpu], "models/vision/a.tflite")
    assert (vision.max_partitions, vision.max_fallback, vision.min_delegated_share) == (7, 9, 0.9)
    assert (vision.tolerance.partitions, vision.tolerance.fallback_nodes) == (Allowance(1), Allowance(share=0.1))
    assert [budgets.max_partitions for budgets in configuration.budgets_of([pixel, gpu], "models/a.tflite")] == [4, 1]


def test_a_project_file_holds_the_same_keys_under_its_table(write):
    text = WHOLE.replace("[[overrides]]", "[[tool.delegate-sim.overrides]]")
    for table in ("budgets", "targets.pixel", "targets.gpu"):
        text = text.replace(f"[{table}]", f"[tool.delegate-sim.{table}]")
    project = read_configuration(write(f"[tool.delegate-sim]\n{text}", "pyproject.toml"))
    own = read_configuration(write(WHOLE))
    assert (project.targets, project.budgets, project.overrides) == (own.targets, own.budgets, own.overrides)


def test_models_are_found_by_patterns(write, tmp_path):
    for name in ("models/a.tflite", "models/deep/er/b.tflite", "models/old/c.tflite", "other.tflite", "models/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "models" / "folder.tflite").mkdir()
    assert read_configuration(write(WHOLE)).find_models() == ["models/a.tflite", "models/deep/er/b.tflite", "other.tflite"]


TARGET = '[targets.t]\ndelegate = "nnapi"\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('models = "a"\n', "1: has no target; write one as [targets.NAME] with a delegate"),
        (
            "[targets.t]\n",
            "1: targets.t: has no delegate; the delegates are nnapi, gpu, mldrift, vx, ",
        ),
        ('[targets.t]\ndevcie = "pixel9"\n', "2: targets.t: there is no such key; did you mean device?"),
        ("\n[targets]\nt = 3\n", "3: targets.t: takes a table"),
        ('\n[targets.t]\ndelegate = "nnap"\n', "3: targets.t.delegate: there is no such delegate; did you mean nnapi"),
        (f"{TARGET}options = {{ feature_level = 3 }}\n", "3: targets.t.options.feature_level: option feature_level of nnapi"),
        (f"{TARGET}options = {{ level = 3 }}\n", "3: targets.t.options: nnapi has no such option; its options are "),
        (f'{TARGET}runtime = "tf-9"\n', "3: targets.t.runtime: there is no such runtime; the runtimes are tf-2.10"),
        (f"{TARGET}runtime = []\n", "3: targets.t.runtime: takes a release or a non-empty list of releases"),
        (f'{TARGET}options = {{ release = "tf-9" }}\n', "3: targets.t.options.release: there is no such runtime"),
        (f'{TARGET}defaults = "none"\n', "3: targets.t.defaults: takes api or benchmark"),
        (f'{TARGET}deleagte = "gpu"\n', "3: targets.t: there is no such key; did you mean delegate?"),
        (f"model = 3\n{TARGET}", "1: there is no such key; did you mean models?"),
        (f"zzz = 3\n{TARGET}", "1: there is no such key; the keys are baseline, budgets"),
        (f"models = [3]\n{TARGET}", "1: models: takes a string"),
        (f'models = ["/a"]\n{TARGET}', "1: models: takes a path inside the folder of this file"),
        (f"models = ['\\a']\n{TARGET}", "1: models: takes a path inside the folder of this file"),
        (f"baseline = true\n{TARGET}", "1: baseline: takes a string"),
        (f"{TARGET}[budgets]\nmax-partitions = -1\n", "4: budgets.max-partitions: takes a whole number of at least 0"),
        (f"{TARGET}[budgets]\nmax-fallback = true\n", "4: budgets.max-fallback: takes a whole number of at least 0"),
        (
            f"{TARGET}[budgets]\nmin-delegated-share = 90\n",
            "4: budgets.min-delegated-share: takes a share from 0 to 1, or a string",
        ),
        (
            f"{TARGET}[budgets.tolerance]\npartitions = 1.5\n",
            "4: budgets.tolerance.partitions: takes a whole number of at least 0, or a",
        ),
        (
            f"{TARGET}[budgets]\nforbid-fallback-ops = ['CONV2D']\n",
            "4: budgets.forbid-fallback-ops: there is no such operator; did",
        ),
        (f"{TARGET}[[overrides]]\nmax-partitions = 1\n", "3: overrides.0: names neither models nor targets"),
        (f"{TARGET}[[overrides]]\ntargets = 'u'\n", "4: overrides.0.targets: there is no such target; the targets are t"),
        (f"{TARGET}[overrides]\n", "3: overrides: must be written as [[overrides]]"),
        (
            f"required-version = '>=99'\n{TARGET}",
            f"1: required-version: >=99 is required, but this is delegate-sim {__version__}",
        ),
        (f"{TARGET}options = {{ driver = 3 }}\n", "3: targets.t.options.driver: option driver of nnapi"),
        (f"required-version = 'newest'\n{TARGET}", "1: required-version: takes a version such as"),
        (f"{TARGET}models = [\n", "3: is not TOML: "),
        ("models = 1\nmodels = 2\n", "2: is not TOML: Cannot overwrite a value"),
    ],
)
def test_errors_name_file_line_and_key(write, text, fault):
    path = write(text)
    with pytest.raises(ConfigurationError) as caught:
        read_configuration(path)
    assert str(caught.value).startswith(f"{path}:{fault}")
    assert "\n" not in str(caught.value)


def test_errors_in_a_project_file_name_the_key_below_the_table(write):
    path = write("[project]\nname = 'x'\n\n[tool.delegate-sim]\nmodles = 'a'\n", "pyproject.toml")
    with pytest.raises(ConfigurationError, match="has no target; write one"):
        read_configuration(path)
    path = write("[project]\nname = 'x'\n\n[tool.delegate-sim.targets.t]\ndelegate = 3\n", "pyproject.toml")
    with pytest.raises(ConfigurationError) as caught:
        read_configuration(path)
    assert str(caught.value) == f"{path}:5: targets.t.delegate: takes a string"


@pytest.mark.parametrize(
    ("version", "fits"),
    [(">=0.0.1", True), (f"=={__version__}", True), (__version__, True), (f"<{__version__}", False), (f"!={__version__}", False),
     (f"<={__version__}.0", True), (f">{__version__}", False), (f">={__version__}, <99", True), (">=1, <0.5", False)],
)  # fmt: skip
def test_required_versions(write, version, fits):
    path = write(f"required-version = '{version}'\n{TARGET}")
    if fits:
        read_configuration(path)
    else:
        with pytest.raises(ConfigurationError, match="is required, but this is delegate-sim"):
            read_configuration(path)


@pytest.mark.parametrize(
    ("clause", "fits"),
    [("==99", False), ("==0.0.1", False), ("!=99", True), ("!=0.0.1", True), ("<=0.0.1", False), ("<=99", True), ("<99", True),
     ("<0.0.1", False), (">0.0.1", True), (">99", False), (">=99", False)],
)  # fmt: skip
def test_required_versions_that_are_older_or_newer(write, clause, fits):
    test_required_versions(write, clause, fits)


@pytest.mark.parametrize(
    ("written", "share"), [("0", 0), ("1", 1), ("0.5", 0.5), ("'0 %'", 0), ("'100 %'", 1), ("'12.5%'", 0.125)]
)
def test_shares(write, written, share):
    found = read_configuration(write(f"{TARGET}[budgets]\nmin-delegated-share = {written}\n")).budgets
    assert found.min_delegated_share == share


@pytest.mark.parametrize("written", ["-0.1", "1.1", "true", "'101 %'", "'1'", "'5 per cent'", "[1]"])
def test_what_is_no_share(write, written):
    with pytest.raises(ConfigurationError, match="takes a share from 0 to 1"):
        read_configuration(write(f"{TARGET}[budgets]\nmin-delegated-share = {written}\n"))


@pytest.mark.parametrize("written", ["-1", "1.5", "true", "'ten'", f"'{'9' * 400} %'", f"'{'9' * 5000} %'"])
def test_what_is_no_allowance(write, written):
    message = r"delegate-sim\.toml:5: .*takes a whole number of at least 0, or a string such as \"10 %\""
    with pytest.raises(ConfigurationError, match=message):
        read_configuration(write(f"{TARGET}\n[budgets.tolerance]\npartitions = {written}\n"))


def test_files_that_cannot_be_read(write, tmp_path):
    with pytest.raises(ConfigurationError, match="No such file"):
        read_configuration(str(tmp_path / "none.toml"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="UTF-8"):
        read_configuration(str(tmp_path / "bytes.toml"))
    with pytest.raises(ConfigurationError, match=r"has no table \[tool.delegate-sim\]"):
        read_configuration(write("[project]\n", "pyproject.toml"))


def test_the_nearest_configuration_upwards_is_found(write, tmp_path):
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.other]\n", encoding="utf-8")
    own = write(TARGET)
    assert find_configuration(str(below)) == own
    project = tmp_path / "a" / "pyproject.toml"
    project.write_text("[tool.delegate-sim]\n", encoding="utf-8")
    assert find_configuration(str(below)) == str(project)


def test_without_a_configuration_init_is_named(tmp_path):
    with pytest.raises(ConfigurationError, match="write a configuration with 'delegate-sim init'"):
        find_configuration(str(tmp_path))


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a.tflite", "*.tflite", True),
        ("m/a.tflite", "*.tflite", False),
        ("m/a.tflite", "m/*.tflite", True),
        ("m/n/a.tflite", "m/*.tflite", False),
        ("m/n/a.tflite", "m/**/*.tflite", True),
        ("m/a.tflite", "m/**/*.tflite", True),
        ("m/a.tflite", "**", True),
        ("../m/a.tflite", "../m/*", True),
    ],
)
def test_patterns(path, pattern, fits):
    assert matches(path, [FilePattern(pattern)]) is fits


def test_a_driver_profile_lies_beside_the_configuration(write, tmp_path, monkeypatch):
    (tmp_path / "driver.toml").write_text('schema = "delegate-sim/driver/1"\n', encoding="utf-8")
    (tmp_path / "below").mkdir()
    path = write('[targets.t]\ndelegate = "nnapi"\noptions = { driver = "driver.toml" }\n')
    monkeypatch.chdir(tmp_path / "below")
    (target,) = read_configuration(path).targets
    assert str(target.target.options["driver"]) == "driver.toml"


def test_an_option_that_is_no_path_stays_as_it_is_written(write, tmp_path, monkeypatch):
    (tmp_path / "below").mkdir()
    path = write('[targets.t]\ndelegate = "nnapi"\noptions = { accelerator_name = "edge/tpu" }\n')
    monkeypatch.chdir(tmp_path / "below")
    (target,) = read_configuration(path).targets
    assert target.target.options["accelerator_name"] == "edge/tpu"


def test_what_is_excluded_need_not_be_among_the_models(write, tmp_path):
    for name in ("a.tflite", "old.tflite"):
        (tmp_path / name).touch()
    path = write(f'models = ["a.tflite"]\nexclude = ["old.tflite"]\n{TARGET}')
    assert read_configuration(path).find_models() == ["a.tflite"]


def test_a_target_may_hold_for_several_releases(write):
    text = """\
models = ["*"]
runtime = ["tf-2.15", "litert-2.3"]
[targets.phone]
delegate = "nnapi"
[targets.tablet]
delegate = "gpu"
runtime = "litert-2.1.4"
[targets.desk]
delegate = "xnnpack"
options = { release = "litert-1.4.0" }
[[overrides]]
targets = ["phone"]
max-partitions = 3
[[overrides]]
targets = ["phone@tf-2.15"]
max-fallback = 4
"""
    configuration = read_configuration(write(text))
    assert [(target.name, str(target.target.release)) for target in configuration.targets] == [
        ("phone@tf-2.15", "tf-2.15"),
        ("phone@litert-2.3", "litert-2.3"),
        ("tablet", "litert-2.1.4"),
        ("desk", "litert-1.4.0"),
    ]
    budgets = configuration.budgets_of(configuration.targets, "m")
    assert [(budget.max_partitions, budget.max_fallback) for budget in budgets] == [(3, 4), (3, None), (None, None), (None, None)]


def test_a_target_may_hold_for_several_releases_of_the_platform_behind_the_delegate(write):
    target = '[targets.phones]\ndelegate = "nnapi"\n'
    found = read_configuration(write(f'{target}android = ["11", 13, "13"]\n')).targets
    assert [(each.name, each.group, each.target.options["nnapi_runtime"]) for each in found] == [
        ("phones@android-11", "phones", "11"),
        ("phones@android-13", "phones", "13"),
    ]
    both = f'{target}android = ["11", "13"]\nruntime = ["tf-2.15", "litert-2.3"]\n'
    assert [each.name for each in read_configuration(write(both)).targets] == [
        "phones@tf-2.15@android-11",
        "phones@tf-2.15@android-13",
        "phones@litert-2.3@android-11",
        "phones@litert-2.3@android-13",
    ]
    assert read_configuration(write(f"{target}android = 8.1\n")).targets[0].target.options["nnapi_runtime"] == "8.1"
    (single,) = read_configuration(write(f"{target}android = 12\n")).targets
    assert (single.name, single.target.options["nnapi_runtime"]) == ("phones", "12")


@pytest.mark.parametrize("value", ["[]", '"8"', "true", "11.0", "[11, true]", '["11", "x"]', "[[11]]"])
def test_other_releases_of_the_platform_are_refused(write, value):
    with pytest.raises(ConfigurationError, match="takes a release of android or a list of releases"):
        read_configuration(write(f'[targets.phones]\ndelegate = "nnapi"\nandroid = {value}\n'))


@pytest.mark.parametrize("key", ["assume-ops-registered", "own-resolver"])
def test_an_application_that_registers_operators_is_named_by_either_key(write, key):
    (target,) = read_configuration(write(f"{TARGET}{key} = true\n")).targets
    assert target.target.assume_ops_registered
    with pytest.raises(ConfigurationError, match="is the former name of assume-ops-registered: give only one of them"):
        read_configuration(write(f"{TARGET}own-resolver = true\nassume-ops-registered = false\n"))


def test_a_delegate_without_a_platform_has_no_such_key(write):
    with pytest.raises(ConfigurationError, match="there is no such key"):
        read_configuration(write('[targets.t]\ndelegate = "gpu"\nandroid = "13"\n'))


PATHS = [
    ('delegate = "nnapi"\noptions = {{ driver = "{path}" }}', "targets.t.options.driver"),
    ('delegate = "nnapi"\noptions = {{ devices = "{path}" }}', "targets.t.options.devices"),
    ('delegate = "npu-google"\noptions = {{ op-filters = "{path}" }}', "targets.t.options.op-filters"),
    ('kind = "micro"\nresolver = "{path}"', "targets.t.resolver"),
    ('delegate = "nnapi"\n[sources.s]\nsource = "{path}"', "sources.s.source"),
    ('delegate = "nnapi"\n[sources.s]\nsource = "{path}.py:f"', "sources.s.source"),
    ('delegate = "nnapi"\n[sources.s]\nsource = "m.keras"\ndata = "{path}"', "sources.s.data"),
]


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret", "below/../../secret", "link", "folder/secret", "hanging"])
@pytest.mark.parametrize(("table", "key"), PATHS)
def test_paths_stay_below_the_folder_of_the_configuration(write, tmp_path, table, key, path):
    outside = tmp_path / "outside"
    outside.mkdir()
    for name in ("secret", "secret.py"):
        (outside / name).write_text("SECRET\n", encoding="utf-8")
    inside = tmp_path / "inside"
    (inside / "below").mkdir(parents=True)
    (inside / "link").symlink_to(outside / "secret")
    (inside / "link.py").symlink_to(outside / "secret.py")
    (inside / "folder").symlink_to(outside)
    (inside / "hanging").symlink_to(outside / "missing")
    (inside / "hanging.py").symlink_to(outside / "missing")
    file = write(f"[targets.t]\n{table.format(path=path)}\n", "inside/delegate-sim.toml")
    with pytest.raises(ConfigurationError, match=rf"delegate-sim.toml:\d: {key}: takes a path inside the folder of this file"):
        read_configuration(file)


@pytest.mark.parametrize("path", ["/tmp/b.json", "../b.json", "link.json"])
def test_the_baseline_stays_below_the_folder_of_the_configuration(write, tmp_path, path):
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "link.json").symlink_to(tmp_path / "new.json")
    file = write(f'baseline = "{path}"\n{TARGET}', "inside/delegate-sim.toml")
    with pytest.raises(ConfigurationError, match=r"delegate-sim.toml:1: baseline: takes a path inside the folder of this file"):
        read_configuration(file)


def test_links_inside_the_folder_are_followed(write, tmp_path):
    (tmp_path / "real.toml").write_text('schema = "delegate-sim/driver/1"\n', encoding="utf-8")
    (tmp_path / "link.toml").symlink_to(tmp_path / "real.toml")
    (target,) = read_configuration(write('[targets.t]\ndelegate = "nnapi"\noptions = { driver = "link.toml" }\n')).targets
    assert target.target.options["driver"].path.endswith("link.toml")


def test_op_filters_can_also_be_written_in_the_configuration(write):
    text = "[targets.t]\ndelegate = 'npu-google'\noptions = { op_filters = 'filters { op_name_pattern: \"/a\" }' }\n"
    (target,) = read_configuration(write(text)).targets
    assert str(target.target.options["op_filters"]) == 'filters { op_name_pattern: "/a" }'


RELEASES = f"runtime = {json.dumps([f'litert-9.9.{number}' for number in range(100)])}\n"
MICRO = '[targets.{}]\nkind = "micro"\n'


@pytest.mark.parametrize(
    ("text", "place", "count"),
    [
        (f'{RELEASES}{TARGET}android = ["11", "12", "13"]\n', 2, 300),
        ("".join([TARGET.replace(".t]", f".t{number}]") for number in range(300)]), 1, 251),
        ("".join(map(MICRO.format, range(300))), 1, 251),
        (f"{''.join(map(MICRO.format, range(200)))}{TARGET}runtime = {RELEASES[10:]}", 1, 300),
    ],
    ids=["products", "targets", "micro", "both"],
)
def test_too_many_targets(write, monkeypatch, text, place, count):
    monkeypatch.setattr(configuration_module, "_MOST_TARGETS", 300)
    read_configuration(write(text))
    monkeypatch.setattr(configuration_module, "_MOST_TARGETS", 250)
    words = (
        f"delegate-sim.toml:{place}: targets: has {count} or more targets, but the limit is 250; DELEGATE_SIM_LIMITS=10 raises"
    )
    with pytest.raises(ConfigurationError, match=words):
        read_configuration(write(text))


def files_in(folder, count):
    for number in range(count):
        (folder / f"m{number}.tflite").touch()


@pytest.mark.parametrize("key", ["models", "exclude"])
@pytest.mark.parametrize("pattern", ["*.tflite", "folder", "a.tflite"])
def test_repeated_patterns_are_expanded_once(write, tmp_path, monkeypatch, key, pattern):
    files_in(tmp_path, 100)
    (tmp_path / "folder").mkdir()
    files_in(tmp_path / "folder", 100)
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 20_000)
    configuration = read_configuration(write(f"{key} = {json.dumps([pattern] * 1000)}\n{TARGET}"))
    with work_budget.work_budget():
        configuration.find_models()


@pytest.mark.parametrize("pattern", ["{}*.tflite", "folder{}", "a{}.tflite"])
def test_different_patterns_use_up_the_budget(write, tmp_path, monkeypatch, pattern):
    files_in(tmp_path, 100)
    (tmp_path / "folder").mkdir()
    files_in(tmp_path / "folder", 100)
    patterns = [pattern.format("/" * number if pattern == "folder{}" else number) for number in range(300)]
    configuration = read_configuration(write(f"models = {json.dumps(patterns)}\n{TARGET}"))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 20_000)
    words = r"delegate-sim.toml: finding the models of the configuration takes more than the limit of 20,000 steps"
    with work_budget.work_budget(), pytest.raises(ConfigurationError, match=words):
        configuration.find_models()


def test_patterns_of_targets_use_up_the_budget(write, monkeypatch):
    patterns = json.dumps([f"a{number}" for number in range(1000)])
    configuration = read_configuration(write(f"{TARGET}models = {patterns}\n"))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 30_000)
    words = r"delegate-sim.toml: matching models with the patterns of the configuration takes more than the limit of 30,000 steps"
    with work_budget.work_budget():
        for _ in range(2):
            assert not configuration.concerns(configuration.targets[0], "m.tflite")
        with pytest.raises(ConfigurationError, match=words):
            configuration.concerns(configuration.targets[0], "m.tflite")


def test_a_long_pattern(write, monkeypatch):
    monkeypatch.setattr(configuration_table, "_LONGEST_PATTERN", 10)
    read_configuration(write(f'models = ["{"a" * 10}"]\n{TARGET}'))
    with pytest.raises(ConfigurationError, match=r"toml:1: models: takes patterns of at most 10 characters; DELEGATE"):
        read_configuration(write(f'models = ["{"a" * 11}"]\n{TARGET}'))


@pytest.mark.parametrize("pattern", ["{}x.tflite", "{}*.tflite"])
def test_the_parts_of_a_pattern_and_the_files_use_up_the_budget(write, tmp_path, monkeypatch, pattern):
    files_in(tmp_path, 100)
    configuration = read_configuration(write(f"models = [{json.dumps(pattern.format('**/*/' * 100))}]\n{TARGET}"))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10_000)
    words = r"delegate-sim.toml: finding the models of the configuration takes more than the limit of 10,000 steps"
    with work_budget.work_budget(), pytest.raises(ConfigurationError, match=words):
        configuration.find_models()


def test_overrides_of_the_same_targets_are_joined(write, monkeypatch):
    """So many overrides take no longer for many targets."""
    targets = "".join([TARGET.replace(".t]", f".t{number}]") for number in range(100)])
    overrides = "".join([f'[[overrides]]\nmodels = ["*"]\nmax-fallback = {number}\n' for number in range(500)])
    configuration = read_configuration(write(f'{targets}{overrides}[[overrides]]\ntargets = ["t1"]\nmax-partitions = 1\n'))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10_000)
    with work_budget.work_budget():
        budgets = configuration.budgets_of(configuration.targets, "m.tflite")
    assert [(budget.max_fallback, budget.max_partitions) for budget in budgets[:3]] == [(499, None), (499, 1), (499, None)]


def test_overrides_of_different_targets_use_up_the_budget(write, monkeypatch):
    targets = "".join([TARGET.replace(".t]", f".t{number}]") for number in range(100)])
    overrides = "".join([f'[[overrides]]\ntargets = ["t{number % 100}"]\nmax-fallback = {number}\n' for number in range(300)])
    configuration = read_configuration(write(targets + overrides))
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 20_000)
    words = r"delegate-sim.toml: applying the overrides of the configuration takes more than the limit of 20,000 steps"
    with work_budget.work_budget(), pytest.raises(ConfigurationError, match=words):
        configuration.budgets_of(configuration.targets, "m.tflite")


def test_a_large_configuration_with_an_error_is_read_twice_at_most(write, monkeypatch):
    from delegate_sim.foundation.parsing import toml

    sizes = []
    monkeypatch.setattr(toml, "spend_steps", lambda steps, activity: sizes.append(steps))
    text = "".join(f"[targets.t{number}]\ndelegate = 'gpu'\n" for number in range(500))
    with pytest.raises(ConfigurationError, match=r"delegate-sim.toml:1001: targets.t499: there is no such key"):
        read_configuration(write(f"{text}zzz = 1\n"))
    assert sizes == [len(text) + len("zzz = 1\n")] * 2


def test_a_target_with_a_device_has_a_target_for_each_delegate(write):
    configuration = read_configuration(write('[targets.phone]\ndevice = "pixel10"\n[targets.apple]\nfor = ["iphones"]\n'))
    names = [target.name for target in configuration.targets]
    phone = [f"phone@{name}" for name in ("mldrift", "npu-google", "xnnpack", "gpu", "nnapi")]
    assert names == [*phone, "apple@mldrift", "apple@coreml", "apple@xnnpack"]
    assert {target.group for target in configuration.targets} == {"phone", "apple"}
    alone = read_configuration(write('[targets.board]\ndevice = "imx8mp"\ndelegate = "vx-nxp"\n'))
    assert [target.target.delegate.name for target in alone.targets] == ["vx-nxp"]
    assert {target.target.defaults for target in configuration.targets} == {"api"}


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[targets.t]\ndevice = "pixel11"\n', "2: targets.t.device: there is no such device; did you mean pixel10"),
        ('[targets.t]\nfor = "gpu"\n', "2: targets.t.for: takes phones, android-phones, "),
        ('[targets.t]\nfor = "microcontrollers"\n', '2: targets.t.for: microcontrollers have no delegate: use kind = "micro"'),
        (
            '[targets.t]\ndelegate = "coreml"\ndevice = "pixel10"\n',
            "2: targets.t.delegate: does not exist on the named devices",
        ),
    ],
)
def test_wrong_devices(write, text, fault):
    path = write(text)
    with pytest.raises(ConfigurationError) as caught:
        read_configuration(path)
    assert str(caught.value).startswith(f"{path}:{fault}")


TARGETS = '[targets.phone]\ndelegate = "nnapi"\n'


def case(*codes, status=FAILED, model="models/m.tflite"):
    findings = tuple([Finding(code, ERROR, "is worse") for code in codes])
    return Case(model, model, "phone@13", "nnapi", "litert-2.3", {}, status, findings)


@pytest.mark.parametrize(
    ("row", "before", "levels", "status"),
    [
        (Ignored("a", "known"), case("a"), [NOTE], PASSED),
        (Ignored("a", "known"), case("a", "b"), [NOTE, ERROR], FAILED),
        (Ignored("b", "known"), case("a"), [ERROR], FAILED),
        (Ignored("a", "known"), case("a", status=UNREADABLE), [NOTE], UNREADABLE),
        (Ignored("a", "known", models=(FilePattern("models/*"),)), case("a"), [NOTE], PASSED),
        (Ignored("a", "known", models=(FilePattern("other/*"),)), case("a"), [ERROR], FAILED),
        (Ignored("a", "known", targets=frozenset({"phone"})), case("a"), [NOTE], PASSED),
        (Ignored("a", "known", targets=frozenset({"phone@13"})), case("a"), [NOTE], PASSED),
        (Ignored("a", "known", targets=frozenset({"phone@12"})), case("a"), [ERROR], FAILED),
    ],
)
def test_ignored_findings_are_notes_and_do_not_fail(row, before, levels, status):
    (after,) = without_ignored([before], [row], {"phone@13": "phone"}, matches)
    assert ([finding.level for finding in after.findings], after.status) == (levels, status)
    assert bool(after.notes) is ({NOTE, ERROR} <= set(levels))
    assert all((finding.ignored == "known") == (finding.level == NOTE) for finding in after.findings)


def test_the_reason_is_in_the_message():
    assert Finding("a", NOTE, "is worse", ignored="known").message == "is worse (ignored: known)"


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ('code = "a"\n', r"ignore\.0: has no reason"),
        ('reason = "known"\n', r"ignore\.0: has no code"),
        ('code = "a"\nreason = "known"\ntargets = ["tablet"]\n', "there is no such target; the targets are phone"),
        ('code = "a"\nreason = "known"\nwhy = "x"\n', "there is no such key"),
        (
            'code = "more-fallbak"\nreason = "known"\n',
            r"4: ignore\.0\.code: the targets have no such code; did you mean more-fallback",
        ),
        ('code = "gpu-rank"\nreason = "known"\n', r"4: ignore\.0\.code: the targets have no such code"),
    ],
)
def test_a_row_that_is_wrong(tmp_path, rows, problem):
    path = tmp_path / "delegate-sim.toml"
    path.write_text(f"{TARGETS}[[ignore]]\n{rows}", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=problem):
        read_configuration(str(path))


def test_rows_are_read(tmp_path):
    path = tmp_path / "delegate-sim.toml"
    row = 'code = "more-fallback-nodes"\nreason = "known"\nmodels = "m*"\ntargets = "phone"\n'
    path.write_text(f"{TARGETS}[[ignore]]\n{row}", encoding="utf-8")
    ignored = Ignored("more-fallback-nodes", "known", (FilePattern("m*"),), frozenset({"phone"}))
    assert read_configuration(str(path)).ignored == (ignored,)
