"""``delegate-sim init``."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Iterator, Sequence

import click

from delegate_sim.delegates.registry import (
    DEFAULT_DELEGATE,
    DELEGATE_NAMES,
    GRAPHICS_ACCELERATOR,
    MICROCONTROLLERS,
    find_delegate,
    folded,
)
from delegate_sim.foundation.outputs import OutputFile, declare_outputs
from delegate_sim.gate.configuration import DEFAULT_BASELINE, OWN_FILE
from delegate_sim.gate.source_models import CONSENT_OPTION
from delegate_sim.releases.catalogue import DEFAULT_RELEASE
from delegate_sim.runtime.device_targets import delegates_of_devices
from delegate_sim.version import __version__

from ..console.layout import counted
from ..console.output_file import FileCommand, force_option, is_forced
from ..console.terminal import write, write_file
from ..options.delegate_flags import DelegateName
from ..options.targets import devices_of_environment, devices_option, groups_option

_EPILOG = """\b
Examples:
  delegate-sim init
  delegate-sim init --device pixel10 --device imx8mp
  delegate-sim init --for phones
  delegate-sim init --delegate gpu --delegate xnnpack
  delegate-sim init --delegate nnapi --android 11 --android 13
"""

_SUFFIX = ".tflite"
_NOT_SEARCHED = frozenset({"node_modules", "build", "dist", "venv", "__pycache__"})
_MOST_FOLDERS = 8
_ANDROIDS = ("11", "13")
"""The Android releases in the example of the configuration."""
_REGISTERED = "# assume-ops-registered = true  # the application registers the models' custom operators"


@click.command("init", cls=FileCommand, epilog=_EPILOG)
@click.option(
    "--delegate",
    "names",
    multiple=True,
    show_default=f"{GRAPHICS_ACCELERATOR}; {DEFAULT_DELEGATE} with --android",
    type=DelegateName(DELEGATE_NAMES),
    help="A delegate to configure; may be given several times.",
)
@devices_option("A phone, SoC or board to configure, such as pixel10; may be given several times.")
@groups_option("A kind of devices to configure, such as phones; may be given several times.")
@click.option(
    "--android",
    "androids",
    metavar="RELEASE",
    multiple=True,
    help=f"An Android release to check {DEFAULT_DELEGATE} on; may be given several times.",
)
@force_option(f"Replace an existing {OWN_FILE}.")
def command(names: Sequence[str], named_devices: Sequence[str], device_groups: Sequence[str], androids: Sequence[str]) -> None:
    """Write a commented configuration for the models below the working directory.

    The configuration lists the folders that contain models, except hidden folders and build folders.
    """
    declare_outputs([OutputFile(OWN_FILE, is_forced())])
    devices = named_devices or (() if names or androids or device_groups else devices_of_environment())
    for device in devices:
        delegates_of_devices([device])  # a microcontroller has no delegate
    if not names and not devices and not device_groups:
        names = (DEFAULT_DELEGATE,) if androids else (GRAPHICS_ACCELERATOR,)
    names, androids = tuple(dict.fromkeys(names)), tuple(dict.fromkeys(androids))
    groups = tuple(dict.fromkeys(device_groups))
    devices = tuple(dict.fromkeys(map(folded, devices)))
    _check_androids(names, androids)
    models = sorted(_models())
    write_file(OWN_FILE, "".join(f"{line}\n" for line in _lines(models, names, devices, groups, androids)))
    scope = f"for {counted(len(models), 'model')}" if models else "without models, because no model was found: add your models"
    write(f"Wrote {OWN_FILE} {scope}. Next, run delegate-sim check --update, and commit {OWN_FILE} and {DEFAULT_BASELINE}.\n")


def _check_androids(names: Sequence[str], androids: Sequence[str]) -> None:
    platforms = [platform for name in names if (platform := find_delegate(name).behind.platform) is not None]
    if androids and not platforms:
        raise click.UsageError(f"--android applies only to {DEFAULT_DELEGATE}: give --delegate {DEFAULT_DELEGATE}")
    for platform in platforms:
        for release in androids:
            if release not in platform.all_releases:
                known = ", ".join(platform.all_releases)
                raise click.UsageError(f"there is no Android release {release!r}; the releases are {known}")


def _models() -> Iterator[str]:
    for folder, folders, files in os.walk("."):
        folders[:] = [name for name in folders if not name.startswith(".") and name not in _NOT_SEARCHED]
        for name in files:
            if name.endswith(_SUFFIX):
                yield os.path.relpath(os.path.join(folder, name)).replace(os.sep, "/")


def _patterns(models: Sequence[str]) -> list[str]:
    """Return a pattern for each folder with models. If there are too many folders, return patterns for top-level folders."""
    folders = list(dict.fromkeys(os.path.dirname(model) for model in models))
    if len(folders) > _MOST_FOLDERS:
        tops = dict.fromkeys(folder.split("/")[0] for folder in folders)
        return [f"{_literal(top)}/**/*{_SUFFIX}" if top else f"*{_SUFFIX}" for top in tops]
    return [f"{_literal(folder)}/*{_SUFFIX}" if folder else f"*{_SUFFIX}" for folder in folders]


def _literal(folder: str) -> str:
    """Return a pattern for a folder. Bytes that are not UTF-8 match any character, because TOML cannot have such bytes."""
    return re.sub("[\ud800-\udfff]", "?", glob.escape(folder))


def _lines(
    models: Sequence[str], names: Sequence[str], devices: Sequence[str], groups: Sequence[str], androids: Sequence[str]
) -> Iterator[str]:
    patterns = _patterns(models) or [f"models/**/*{_SUFFIX}"]
    yield "# The configuration of delegate-sim check. It can also be in pyproject.toml, under [tool.delegate-sim]."
    yield ""
    yield f'required-version = ">={__version__}"'
    yield ""
    yield "# Patterns are relative to this file; ** matches any number of folders."
    yield f"models = [{', '.join(map(_quoted, patterns))}]"
    yield '# exclude = ["models/experiments/**"]'
    yield ""
    yield "# The committed baseline; false to check only budgets."
    yield f'# baseline = "{DEFAULT_BASELINE}"'
    yield ""
    yield "# The runtime release that the application ships, and the defaults of the delegates' options: the defaults of"
    yield '# benchmark_model ("benchmark") or of the API ("api"). Targets may override both settings.'
    yield f'# runtime = "{DEFAULT_RELEASE}"  # or several: ["tf-2.15", "{DEFAULT_RELEASE}"]'
    yield '# defaults = "benchmark"'
    yield ""
    yield f"# A target for each delegate and device: {', '.join(DELEGATE_NAMES)}."
    yield from _target_lines(names, devices, groups, androids)
    yield from _source_lines()
    yield "# Limits that do not depend on the baseline. Targets may override these limits in [targets.NAME.budgets]."
    yield "# [budgets]"
    yield "# max-partitions = 3"
    yield "# max-fallback = 0"
    yield '# min-delegated-share = "95 %"'
    yield '# min-multiply-add-share = "90 %"'
    yield '# forbid-fallback-ops = ["CONV_2D", "FULLY_CONNECTED"]'
    yield ""
    yield "# How much worse than the baseline a result may be: a number, or a percentage of the old value."
    yield "# [budgets.tolerance]"
    yield "# partitions = 0"
    yield "# delegate-kernels = 0"
    yield "# fallback-nodes = 0"
    yield "# delegated-share = 0.0"
    yield "# multiply-add-share = 0.0"
    yield '# border-bytes = "5 %"'
    yield ""
    yield "# Budgets for some models or targets."
    yield "# [[overrides]]"
    yield '# models = ["models/large/*.tflite"]'
    yield f'# targets = ["{[*map(_target_name, devices), *groups, *names][0]}"]'
    yield "# max-partitions = 10"


def _target_lines(names: Sequence[str], devices: Sequence[str], groups: Sequence[str], androids: Sequence[str]) -> Iterator[str]:
    named = [(_target_name(device), f'device = "{device}"  # a target for each of its delegates') for device in devices]
    for group in groups:
        line = (
            'kind = "micro"' if group == MICROCONTROLLERS else f'for = "{group}"  # a target for each delegate of these devices'
        )
        named.append((group, line))
    for name, line in named:
        yield f"[targets.{name}]"
        yield line
        if name != MICROCONTROLLERS:
            yield _REGISTERED
        yield '# models = ["models/vision/*.tflite"]'
        yield ""
    for name in names:
        yield f"[targets.{name}]"
        yield f'delegate = "{name}"'
        if find_delegate(name).behind.platform is not None:
            releases = ", ".join([f'"{release}"' for release in androids or _ANDROIDS])
            yield f"{'' if androids else '# '}android = [{releases}]  # a target for each release"
        yield from _options_hint(name)
        yield _REGISTERED
        yield '# models = ["models/vision/*.tflite"]'
        yield ""


def _target_name(device: str) -> str:
    return device.replace("+", "plus")


def _source_lines() -> Iterator[str]:
    yield (
        "# Each [sources.NAME] is a source model that is converted, then checked as NAME. delegate-sim sweep finds good settings."
    )
    yield "# time-limit is in seconds, memory-limit is in GiB, and python has the converter installed."
    yield f"# check runs python, and functions such as nets.py:make, only with {CONSENT_OPTION}."
    yield "# [sources.classifier]"
    yield '# source = "models/classifier.keras"'
    yield '# settings = "int8+dense-per-tensor"'
    yield '# data = "models/inputs.npz"'
    yield '# converter = "tensorflow"'
    yield '# python = "converters/bin/python"'
    yield "# time-limit = 900"
    yield "# memory-limit = 12"
    yield ""


def _options_hint(name: str) -> Iterator[str]:
    options = find_delegate(name).options
    if options:
        yield f"# options = {{ {options[0].key} = ... }}  # {', '.join(option.key for option in options)}"


def _quoted(pattern: str) -> str:
    """Return a pattern as a TOML basic string. Other than JSON, TOML escapes the character DEL."""
    return json.dumps(pattern, ensure_ascii=False).replace("\x7f", "\\u007f")
