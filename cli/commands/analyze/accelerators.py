"""``delegate-sim analyze --accelerators``: simulate LiteRT 2's CompiledModel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from delegate_sim.delegates.npu.soc_names import each_vendor, full_soc_name, recognized_soc_name
from delegate_sim.delegates.registry import ACCELERATORS
from delegate_sim.errors import OptionError
from delegate_sim.releases.catalogue import parse_release
from delegate_sim.results.report.accelerator_stack import Stack, StackResult, delegates_of, parse_accelerators, simulate_stacks

from ...answers import Answer, ModelTable, write_answers
from ...console.terminal import print_warning, width, write_to
from ...models import Models, Unreadable, read_model
from ...options.accelerators import AcceleratorArguments
from ...options.targets import TargetArguments
from ...outputs import GITHUB, summarize
from ...text.analysis.advised import with_advice, with_adviser
from ...text.analysis.stack import stack_lines, stacked_row
from ...text.analysis.view import View
from ...text.many import STACKED
from .documents import Outputs

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


def analyze_accelerators(
    models: Sequence[str], accelerators: AcceleratorArguments, arguments: TargetArguments, outputs: Outputs, *, verbose: bool
) -> int:
    """Write the simulation of each model on each SoC, and return the exit code. Raises UsageError and OptionError.

    If some of several SoCs cannot be simulated, the text has a column for each of them, and standard error has the reasons. The
    exit code is about the other SoCs.
    """
    form, _, output = outputs
    has_npu = "npu" in _named(accelerators.accelerators)
    socs, errors = _simulated(accelerators.socs, has_npu=has_npu)
    stacks = asked_stacks(accelerators.accelerators, socs)
    options, release = stack_options(stacks, arguments), parse_release(arguments.runtime)
    stacks = [
        replace(stack, options=options, release=release, assume_ops_registered=arguments.assume_ops_registered)
        for stack in stacks
    ]

    def results_of(path: str) -> list[StackResult]:
        model = read_model(path)
        return list(map(_with_adviser, simulate_stacks(model, stacks)))

    def answer(path: str) -> Answer:
        results = results_of(path)
        view = View(width(), verbose)
        return Answer(
            lambda: [_advised(result).to_dict() for result in results],
            lambda: stack_lines(results, view, errors),
            lambda: list(map(stacked_row, results)),
        )

    for error in errors.values():
        print_warning(str(error))
    if form in ("text", "json"):
        return write_answers(Models(models), form, output, ModelTable(STACKED, is_left_out=verbose), answer)
    return _write_cases(Models(models), form, output, stacks, results_of)


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


def _write_cases(
    models: Models, form: str, output: str | None, stacks: Sequence[Stack], results_of: Callable[[str], list[StackResult]]
) -> int:
    from delegate_sim.gate.analysis_cases import stack_cases
    from delegate_sim.gate.results import Results

    from ...formats import render
    from ...text.analysis.stack import stack_verdict

    stacked = list(models.each(results_of))
    cases = [case for results in stacked for result in results for case in stack_cases(_advised(result))]
    cases += [case for model in models.unreadable for case in _unreadable(model, stacks)]
    verdicts = map(stack_verdict, stacked[0]) if len(stacked) == 1 else ()
    results = Results("analyze", tuple(cases), tuple(verdicts))
    if form == GITHUB:
        summarize(results)
    write_to(render(form, results), form, output)
    return models.exit_code


def _unreadable(model: Unreadable, stacks: Sequence[Stack]) -> Iterator[Case]:
    from delegate_sim.gate.results import INTERNAL_ERROR, UNREADABLE_MODEL, unreadable_case

    code = INTERNAL_ERROR if model.is_fault else UNREADABLE_MODEL
    for stack in stacks:
        delegate = delegates_of(stack)[0].name
        target = stack.soc or delegate
        yield unreadable_case(model.path, model.path, target, delegate, str(stack.release), stack.options, model.message, code)


def _advised(result: StackResult) -> StackResult:
    return replace(result, report=with_advice(result.report))


def _with_adviser(result: StackResult) -> StackResult:
    return replace(result, report=with_adviser(result.report))
