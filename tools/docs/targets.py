"""Write the tables in docs/targets.md (``make docs``): Android releases, phones and boards, and what each command takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from delegate_sim.delegates.devices import SOCS
from delegate_sim.delegates.nnapi.options import RUNTIMES, android_of, highest_level_of
from delegate_sim.delegates.registry import BOARDS, CLOSED_PLUGIN_NAMES, PLUGIN_NAMES, folded
from tools.docs.command_matrix import matrix_rows
from tools.docs.sections import with_section

PAGE = Path(__file__).resolve().parents[2] / "docs" / "targets.md"
_CHECKS = {
    "none": "not simulated",
    "8.1": "not simulated",
    "9": "not simulated",
    "10": "simulated: the checks of operations were measured by running the NNAPI runtime; all other checks follow its sources",
    "11": "simulated: the checks of operations were measured by running the NNAPI runtime; all other checks follow its sources",
    "12": "simulated: all checks follow the sources of the NNAPI runtime",
    "13": "simulated: all checks were measured by running the NNAPI runtime",
    "14": "assumed to be the same as in Android 13",
    "15": "assumed to be the same as in Android 13",
    "16": "assumed to be the same as in Android 13",
}
"""The notes of a report on the runtime of each release (``runtime.notes``), in a few words."""


def page(text: str) -> str:
    """Return the page with its tables as the code has them."""
    text = with_section(text, "android", "\n".join(_android_rows()))
    text = with_section(text, "devices", "\n".join(_device_rows()))
    text = with_section(text, "socs", "\n".join(_soc_rows()))
    return with_section(text, "commands", "\n".join(matrix_rows()))


def _android_rows() -> Iterator[str]:
    yield "| Android | options | NNAPI feature level | checks of the NNAPI runtime |"
    yield "|---|---|---|---|"
    for name in RUNTIMES:
        release = android_of({"nnapi_runtime": name})
        assert (release is None) == (_CHECKS[name] == "not simulated")
        level = highest_level_of(name)
        title = "the delegate alone" if level is None else name
        yield f"| {title} | `--delegate nnapi --android {name}` | {level or 'set by `--feature-level`'} | {_CHECKS[name]} |"


def _device_rows() -> Iterator[str]:
    yield "| device | typed as | targets, in the order to try |"
    yield "|---|---|---|"
    for board in [board for board in BOARDS if board.delegates]:
        targets = ", ".join([f"`{' '.join([name, *dict(options).values()])}`" for name, options in board.delegates])
        typed = ", ".join(dict.fromkeys([f"`{folded(name)}`" for name in board.names]))
        yield f"| {board.names[0]} | {typed} | {targets} |"


def _soc_rows() -> Iterator[str]:
    yield "| phone, board or trade name | SoC | target | simulated? |"
    yield "|---|---|---|---|"
    for target in (*PLUGIN_NAMES, *CLOSED_PLUGIN_NAMES):
        vendor = target.partition("-")[2]
        how = "no; recognized, and runs only with `--live`" if target in CLOSED_PLUGIN_NAMES else "yes"
        unnamed = []
        for soc, names in SOCS[vendor].items():
            if names:
                yield f"| {', '.join(names)} | `{vendor}:{soc}` | `{target}` | {how} |"
            else:
                unnamed.append(f"`{soc}`")
        if unnamed:
            yield f"| other SoCs of {vendor.capitalize().replace('tek', 'Tek')} | {', '.join(unnamed)} | `{target}` | {how} |"


def main() -> None:
    """Write the tables into the page."""
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
