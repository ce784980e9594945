"""``delegate-sim analyze --accelerators``: simulate LiteRT 2's CompiledModel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from delegate_sim.delegates.devices import each_vendor, full_soc_name, recognized_soc_name
from delegate_sim.delegates.registry import ACCELERATORS, APPLIED_BY_DEFAULT
from delegate_sim.errors import OptionError
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.results.report.accelerator_stack import Stack, delegates_of, parse_accelerators, simulate_stacks

from ...answers import Answer, ModelTable, write_all
from ...console.terminal import print_warning, width
from ...models import Models, read_model
from ...options.targets import TargetArguments, is_given
from ...text.analysis.stack import stack_lines, stack_verdict, stacked_row
from ...text.analysis.view import View, with_adviser
from ...text.many import STACKED
from .analysis import Request

if TYPE_CHECKING:
    from delegate_sim.gate.results import Case


def asked_stacks(accelerators: str | None, socs: Sequence[str]) -> list[Stack]:
    """Return one stack for each requested SoC, or a single stack if no SoC is requested.

    A stack has the requested accelerators, or all accelerators if only SoCs are requested. Without the NPU, there is a single
    stack, because the SoC makes no difference to the other accelerators. Raises UsageError and OptionError.
    """
    names = _named(accelerators)
    if "npu" not in names:
        return [Stack(names)]
    if not socs:
        raise click.UsageError("the NPU needs a SoC: give --soc, such as google:Tensor_G5 or pixel10")
    return [Stack(names, soc) for soc in dict.fromkeys(map(full_soc_name, socs))]


def _named(accelerators: str | None) -> tuple[str, ...]:
    return tuple(ACCELERATORS) if accelerators is None else parse_accelerators(accelerators)


def stack_options(stacks: Sequence[Stack], arguments: TargetArguments) -> dict[str, Any]:
    """Return the options given for the delegates of all stacks. Raises OptionError."""
    delegates = list(dict.fromkeys(delegate for stack in stacks for delegate in delegates_of(stack)))
    return {key: value for given in arguments.given(delegates) for key, value in given.items()}


def analyze_accelerators(request: Request) -> int:
    """Write the simulation of each model on each SoC, and return the exit code. Raises UsageError and OptionError.

    If some of several SoCs cannot be simulated, the text has a column for each of them, and standard error has the reasons. The
    exit code is about the other SoCs.
    """
    _refuse_other_options(request)
    accelerators, arguments = request.accelerators, request.arguments
    socs, errors = _simulated(accelerators.socs, has_npu="npu" in _named(accelerators.accelerators))
    stacks = asked_stacks(accelerators.accelerators, socs)
    shared = stack_options(stacks, arguments), parse_release(arguments.runtime), arguments.assume_ops_registered
    stacks = [Stack(stack.accelerators, stack.soc, *shared) for stack in stacks]
    view = View(width(), request.verbose)

    def answer(path: str) -> Answer:
        results = [with_adviser(result) for result in simulate_stacks(read_model(path), stacks)]

        def cases(_: bool) -> Sequence[Case]:
            from delegate_sim.gate.results import stack_cases

            return [case for result in results for case in stack_cases(replace(result, runs=result.advised_runs))]

        return Answer(
            lambda: [partial(result.json_parts, advice=True) for result in results],
            lambda: stack_lines(results, view, errors),
            lambda: list(map(stacked_row, results)),
            cases=cases,
            verdicts=lambda: list(map(stack_verdict, results)),
        )

    for error in errors.values():
        print_warning(str(error))
    named = [(delegates_of(stack)[0].name, stack) for stack in stacks]
    targets = [(stack.soc or name, name, str(stack.release), stack.options) for name, stack in named]
    return write_all(Models(request.models), request.outputs, ModelTable(STACKED, request.verbose, targets=targets), answer)


def _refuse_other_options(request: Request) -> None:
    if request.arguments.delegates or request.is_chain:
        chosen_by = "--soc" if request.accelerators.accelerators is None else "--accelerators"
        raise click.UsageError(f"{chosen_by} already selects the delegates: leave out --delegate and --chain")
    refused = {
        "--live": request.live.is_given,
        "--defaults": is_given("defaults"),
        f"--default-{APPLIED_BY_DEFAULT}": is_given("applies_default"),
    }
    if any(refused.values()):
        raise click.UsageError(f"--accelerators does not take {', '.join([name for name in refused if refused[name]])}")


def _simulated(socs: Sequence[str], *, has_npu: bool) -> tuple[list[str], dict[str, OptionError]]:
    """Return the SoCs whose NPU is requested and can be simulated, and an error for each remaining SoC.

    Raises OptionError if a SoC is not recognized, or if the NPU is requested and no SoC can be simulated.
    """
    simulated, errors = list[str](), dict[str, OptionError]()
    requested = list(each_vendor(socs))
    for soc in requested:
        recognized_soc_name(soc)  # raises OptionError, also if the NPU is not requested
    for soc in requested if has_npu else ():
        try:
            simulated.append(full_soc_name(soc))
        except OptionError as error:
            errors[soc] = error
    if errors and not simulated:
        raise next(iter(errors.values()))
    return simulated, errors
