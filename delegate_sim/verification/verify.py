"""Run one model on a delegate's real code, compare it with the reference kernels, and find the first node that differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..delegates.options import parse_options
from ..delegates.registry import ACCELERATORS, GRAPHICS_ACCELERATOR, find_live
from ..delegates.traits import AcceleratorTraits
from ..errors import FixError, MissingPackageError, OptionError
from ..foundation.printable import printable
from ..inference.difference import TensorDifference
from ..inference.inputs import InputArray
from ..live.litert_engines import INSTALL, driver_environment, with_driver
from ..live.live_runs import find_engine
from ..live.trial import lacking
from ..model.model import Model
from ..releases.catalogue import NEWEST, Release, parse_release
from ..results.report.number_risks import number_risks
from ..runtime.interpreter import Run, simulate
from ..runtime.target import Target
from .comparison import ErrorTolerance, compared, step_of, tolerance_for, with_float_weights
from .conditions import KnownCondition, known_conditions
from .cuts import FAILED, RIGHT, WRONG, Cutter, Window, find_window
from .execution import (
    ACCELERATOR,
    CPU,
    DEFAULT,
    REFERENCE,
    EntryPoint,
    ExecutionError,
    ExecutionResults,
    ModelExecutor,
    ProcessExecutor,
    RunningTime,
    entries,
    entry_inputs,
)
from .verification import Culprit, Verification, VerifiedEntry

PLACES = (GRAPHICS_ACCELERATOR, ACCELERATORS["cpu"], CPU)
"""The code that can run a model: LiteRT's GPU accelerator, the CPU's delegate, or the optimized kernels of the CPU."""


class Verifier:
    """Runs models with two executors, and compares the results.

    ``on`` is a name of ``PLACES``. ``python`` is another interpreter that has the runtime. Raise OptionError for an unknown
    name, and MissingPackageError if the code cannot run on this host.
    """

    def __init__(self, on: str, python: str = "") -> None:
        if on not in PLACES:
            raise OptionError(printable(f"models can be run on {', '.join(PLACES)}, not on {on!r}"))
        self.on = on
        self.software = ""
        self.delegate = None if on == CPU else find_live(on)
        self.time = RunningTime()
        self.references: Sequence[ModelExecutor] = [ProcessExecutor(REFERENCE, python=python, time=self.time)]
        """The executors of right numbers. Some operators have no reference kernel, so the optimized kernels come second."""
        if on != CPU:
            self.references = [*self.references, ProcessExecutor(CPU, python=python, time=self.time)]
        kernels = CPU if on == CPU else DEFAULT
        self.real: ModelExecutor = ProcessExecutor(kernels, python=python, on_software=self._set_software, time=self.time)
        traits = None if self.delegate is None else self.delegate.live
        self.is_accelerator = isinstance(traits, AcceleratorTraits)
        self.options: Mapping[str, Any] = {}
        if self.delegate is not None:
            engine = find_engine(self.delegate)
            lacks = (INSTALL if self.is_accelerator and driver_environment() is None else "") if python else lacking(engine)
            if lacks:
                raise MissingPackageError(f"{on} cannot run here: it lacks {lacks} ('delegate-sim doctor' shows more)")
            self.options = parse_options(self.delegate.name, self.delegate.options, engine.fixed_options)
        if isinstance(traits, AcceleratorTraits):
            arguments, environment = tuple(traits.arguments(self.options)), with_driver(driver_environment())
            self.real = ProcessExecutor(
                ACCELERATOR, arguments, environment, python, self._set_software, traits.adapter, self.time
            )

    def _set_software(self, software: str) -> None:
        self.software = software

    @property
    def target(self) -> Target | None:
        """The delegate in the release that ran. None for the CPU."""
        return None if self.delegate is None else Target(self.delegate, self.options, _release(self.software))

    def simulate(self, model: Model) -> Run | None:
        """Simulate the model on the delegate in the release that ran. Return None for the CPU."""
        return None if self.target is None else simulate(model, self.target)


def _release(software: str) -> Release:
    try:
        return parse_release(software)
    except OptionError:
        return NEWEST


def verify_on(
    verifier: Verifier,
    model: Model,
    data: Sequence[str] = (),
    samples: int = 2,
    tolerance: float | None = None,
    *,
    searches: bool = True,
) -> Verification:
    """Run each signature of a model, compare the outputs, and find the first node at fault.

    The inputs are the arrays in the .npz files ``data``, and ``samples`` generated inputs. In every second generated sample,
    no value is positive. ``tolerance`` is the largest error of right outputs, as a share of the output's largest value. The
    default depends on the types of the weights. Without ``searches``, the node at fault is not searched for. Raise OptionError
    if an input does not fit, and FixError if the model does not run with the reference kernels, or the delegate's code does not
    start.
    """
    allowed = tolerance_for(model) if tolerance is None else ErrorTolerance(tolerance)
    chosen = entries(model)
    inputs = entry_inputs(model, chosen, data, samples)
    true_model = with_float_weights(model) if verifier.is_accelerator else model
    results, count = [], 0
    for entry, arrays in zip(chosen, inputs, strict=True):
        verifier.time.seconds()
        count = max(count, len(arrays))
        results.append(_Verified(verifier, model, true_model, entry, arrays, allowed, searches).result())
    run = verifier.simulate(model)
    delegated = None if run is None else sum([len(subgraph.delegated) for subgraph in run.subgraphs])
    nodes = sum([len(graph.nodes) for graph in model.subgraphs])
    return Verification(
        model.path or "", verifier.on, verifier.software, allowed, count, delegated, nodes, tuple(results), verifier.target
    )


class _Verified:
    def __init__(
        self,
        verifier: Verifier,
        model: Model,
        true_model: Model,
        entry: EntryPoint,
        samples: Sequence[Sequence[InputArray]],
        allowed: ErrorTolerance,
        searches: bool,
    ) -> None:
        self._searches = searches
        self._verifier, self._model, self._entry, self._samples, self._allowed = verifier, model, entry, samples, allowed
        self._cutter = Cutter(model, entry.subgraph)
        self._true_model = true_model
        self._truth = verifier.references[0]
        self._runs = 0
        self._kept: Mapping[int, InputArray] = {}
        self._faults: dict[tuple[int, int], tuple[TensorDifference | None, str]] = {}

    def result(self) -> VerifiedEntry:
        """Compare the entry, and search for the node at fault if it is wrong.

        An output is right if it agrees with the reference kernels or the optimized kernels. A few reference kernels differ from
        the optimized kernels, such as the one of SUM for INT8.
        """
        entry = self._entry
        results: Sequence[ExecutionResults] | None = None
        differences: list[TensorDifference] = []
        wrong: list[TensorDifference] = []
        outputs: list[tuple[InputArray, ...]] = []
        for executor, references in self._truths():
            self._truth = executor
            outputs = [result.outputs for result in references]
            if results is None:
                try:
                    results = self._verifier.real.run(self._model, entry, self._samples, expected=outputs[0])
                except ExecutionError as error:
                    return self._failed(error)
            differences = self._differences(entry, outputs, [result.outputs for result in results])
            wrong = [own for own, index in zip(differences, entry.output_tensors, strict=True) if self._is_wrong(own, index)]
            if not wrong:
                break
        culprit = self._culprit(WRONG, self._samples[self._worst(outputs, results or ())]) if wrong else None
        conditions = tuple(self._conditions([None]) if wrong else self._hidden_conditions()) if culprit is None else ()
        steps = tuple(map(self._in_steps, differences, entry.output_tensors))
        return VerifiedEntry(
            entry.key,
            entry.subgraph,
            tuple(differences),
            tuple(wrong),
            culprit=culprit,
            conditions=conditions,
            errors_in_steps=steps,
        )

    def _failed(self, error: ExecutionError) -> VerifiedEntry:
        if error.stage == "start":
            reason = f"{self._verifier.on} does not start: {error} ('delegate-sim doctor' shows more)"
            raise FixError(reason, self._model.path or "") from error
        culprit = None if error.is_timeout else self._culprit(FAILED, self._samples[0])
        conditions = () if culprit is not None else tuple(self._conditions(None))
        step = error.stage, str(error), error.is_crash
        return VerifiedEntry(self._entry.key, self._entry.subgraph, (), (), *step, culprit, conditions)

    def _truths(self) -> Iterator[tuple[ModelExecutor, Sequence[ExecutionResults]]]:
        """Yield the executors of right numbers that run the entry, with their results. Raise FixError if there is none."""
        errors: list[ExecutionError] = []
        for executor in self._verifier.references:
            try:
                yield executor, executor.run(self._true_model, self._entry, self._samples)
            except ExecutionError as error:
                errors.append(error)
        if len(errors) == len(self._verifier.references):
            is_started = errors[-1].stage != "start"
            where = "the model does not run with the CPU's reference kernels" if is_started else "the runtime does not start"
            raise FixError(f"{where}: {errors[-1]}", self._model.path or "") from errors[-1]

    def _differences(
        self, entry: EntryPoint, references: Sequence[Sequence[InputArray]], results: Sequence[Sequence[InputArray]]
    ) -> list[TensorDifference]:
        return [
            compared(name, [own[place] for own in references], [own[place] for own in results])
            for place, (name, _) in enumerate(entry.outputs)
        ]

    def _is_wrong(self, difference: TensorDifference, index: int) -> bool:
        return self._allowed.excludes(difference, step_of(self._cutter.graph, index))

    def _in_steps(self, difference: TensorDifference, index: int) -> float | None:
        step = step_of(self._cutter.graph, index)
        return difference.greatest / step if step else None

    def _worst(self, references: Sequence[Sequence[InputArray]], results: Sequence[ExecutionResults]) -> int:
        for number, (reference, result) in enumerate(zip(references, results, strict=True)):
            differences = self._differences(self._entry, [reference], [result.outputs])
            if any(map(self._is_wrong, differences, self._entry.output_tensors)):
                return number
        return 0

    def _culprit(self, outcome: str, sample: Sequence[InputArray]) -> Culprit | None:
        steps = self._cutter.steps
        between = self._cutter.between()
        if not self._searches or not steps or any(self._cutter.graph.tensors[index].is_variable for index in between):
            return None
        try:
            (reference,) = self._truth.run(self._true_model, self._entry, [sample], kept=between)
        except ExecutionError:
            return None
        self._kept = {**reference.kept, **dict(zip(self._entry.input_tensors, sample, strict=True))}
        for base, top in self._spans():
            if self._judge(base, top) == outcome:
                break
        else:
            return None
        window = find_window(top - base, outcome, lambda first, stop: self._judge(base + first, base + stop))
        window = Window(base + window.first, base + window.last, window.is_narrow)
        last = steps[window.last]
        difference, words = self._faults.get((base, window.last + 1), (None, ""))
        nodes = [node.index for node in steps[window.first : window.last + 1]]
        conditions = tuple(
            list(self._conditions([last.index]))
            or list(self._conditions(nodes))
            or list(self._conditions(None if outcome == FAILED else [None]))
        )
        return Culprit(
            self._entry.subgraph,
            last.index,
            last.op,
            steps[window.first].index,
            window.is_narrow,
            outcome,
            difference,
            words,
            self._runs,
            conditions,
        )

    def _spans(self) -> list[tuple[int, int]]:
        """Return the parts to search, as a first step and the step behind the last.

        The part with all delegated nodes comes first. A smaller part from outside may be delegated only because it is alone.
        """
        steps = self._cutter.steps
        run = self._verifier.simulate(self._model)
        delegated = frozenset() if run is None else run.subgraphs[self._entry.subgraph].delegated
        places = [place for place, node in enumerate(steps) if node.index in delegated]
        return list(dict.fromkeys([*([(places[0], places[-1] + 1)] if places else []), (0, len(steps))]))

    def _judge(self, first: int, stop: int) -> str:
        self._runs += 1
        try:
            cut = self._cutter.cut(first, stop)
            inputs, expected = self._values(cut.inputs), self._values(cut.outputs)
            (result,) = self._verifier.real.run(cut.model, cut.entry, [inputs], expected=expected)
        except (ExecutionError, FixError) as error:
            self._faults[first, stop] = None, str(error)
            return FAILED
        for index, reference, value in zip(cut.outputs, expected, result.outputs, strict=True):
            difference = compared(self._cutter.graph.tensors[index].name, [reference], [value])
            if self._is_wrong(difference, index):
                self._faults[first, stop] = difference, ""
                return WRONG
        return RIGHT

    def _values(self, indices: Sequence[int]) -> list[InputArray]:
        missing = [index for index in indices if index not in self._kept]
        if missing:
            raise FixError(f"the reference kernels give no value for tensor {missing[0]}")
        return [self._kept[index] for index in indices]

    def _hidden_conditions(self) -> Iterator[KnownCondition]:
        """Yield the conditions of nodes that are certainly wrong, although the outputs are right within the tolerance."""
        run = self._verifier.simulate(self._model)
        certain = [risk.node for risk in (() if run is None else number_risks(run)) if risk.is_certain]
        for condition in self._conditions(certain) if certain else ():
            if condition.risk.is_certain:
                yield condition

    def _conditions(self, nodes: Sequence[int | None] | None) -> Iterator[KnownCondition]:
        run = self._verifier.simulate(self._model)
        for condition in () if run is None else known_conditions(self._model, run, self._entry.subgraph, nodes):
            self._verifier.time.seconds()
            yield condition
