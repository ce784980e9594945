"""Simulate LiteRT 2's CompiledModel. The NPU plugin gets the nodes first, then the GPU, then the CPU.

Source: ``LiteRtCompiledModelT::Create`` and ``InitializeModel`` (``litert/runtime/compiled_model.cc``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...delegates.base import Delegate
from ...delegates.devices import simulated_socs
from ...delegates.mldrift.target import not_fully_accelerated
from ...delegates.options import OptionValues, option_names, parse_options
from ...delegates.registry import ACCELERATORS, FALLBACK_OPTION, find_delegate, plugin_of
from ...errors import OptionError
from ...foundation.columns import LIST, YES_OR_NO, Column, Table, group, within
from ...foundation.printable import printable
from ...model.model import Model
from ...model.precompiled import DISPATCH, precompiled
from ...refusal import Refusal, Stage
from ...releases.catalogue import NEWEST, Release
from ...runtime.interpreter import Assumptions, Run, simulate_chain
from ...runtime.target import Target
from .findings import risks_text
from .measures import measure
from .multiply_adds import compute_of
from .number_risks import number_risks
from .placement import CPU, placements
from .report import Report, placement_entries
from .verdict import if_registered, refusal_text, share_text, subject

_PLACES = ("op", "place", "nodes")
_SOC = "soc"
"""The name of the option for the SoC. All plugins have this option."""
_CPU_NAMES = frozenset({CPU, ACCELERATORS["cpu"]})
_STUBS_ON_CPU = frozenset({"Convolution2DTransposeBias", "MaxPoolingWithArgmax2D", "MaxUnpooling2D", "moe"})
"""Custom operators that CompiledModel registers for XNNPACK. There are no CPU kernels for these operators."""
_GOES_ON = "CompiledModel continues without the NPU, and only its log says so"


@dataclass(frozen=True, slots=True)
class Stack:
    """The target of a CompiledModel: the requested accelerators, and settings as in ``Target``.

    ``soc`` has the form ``vendor:model``. It is empty if no NPU is requested. An option in ``options`` is passed to every
    accelerator that has the option.
    """

    accelerators: tuple[str, ...]
    soc: str = ""
    options: OptionValues = field(default_factory=dict)
    release: Release = NEWEST
    assume_ops_registered: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class StackResult(Report):
    """The runs of all accelerators on a model, whether CompiledModel is created, and notes.

    A node is on the NPU if the NPU's plugin selects the node. The vendor's compiler is not simulated, and may reject selected
    nodes. ``placement`` is empty if CompiledModel is not created.
    """

    columns = (
        *Report.columns[:2],
        Column("placement", LIST, source=lambda own: placement_entries(own) if own.is_created else ()),
        *Report.columns[3:],
        group(
            "compiled_model",
            *within("stack", [Column("accelerators", LIST), Column("soc")]),
            *(Column("created", YES_OR_NO, source="is_created"), Column("notes", LIST)),
        ),
    )

    stack: Stack = field(kw_only=True)
    is_created: bool = field(kw_only=True)
    notes: tuple[str, ...] = field(kw_only=True)

    @property
    def report(self) -> Report:
        """The result itself. It had a separate report before it was a ``Report``."""
        return self

    def places(self) -> dict[str, Counter[str]]:
        """Count the nodes of each operator at each place. If CompiledModel is not created, the result is empty."""
        by_place: dict[str, Counter[str]] = {}
        for places in placements(self.runs) if self.is_created else ():
            for node, place in places:
                by_place.setdefault(node.op, Counter())[place] += 1
        return by_place

    @property
    def refusal(self) -> str:
        """The reason why CompiledModel is not created, or why its runs fail.

        The failure of a plugin is the reason only if there is no other reason.
        """
        refusals = [(run, run.refusal) for run in self.runs if run.refusal is not None]
        refused = [run for run, refusal in refusals if refusal.is_at_invoke or not self.is_created]
        refused.sort(key=lambda run: run.refusal is not None and run.refusal.stage is Stage.SELECTING)
        return refusal_text(refused[0]) + if_registered(refused[0]) if refused else ""

    @property
    def target(self) -> str:
        """The SoC, or the accelerators if there is no SoC."""
        return self.stack.soc or ", ".join(self.stack.accelerators)

    @property
    def statement(self) -> str:
        """A sentence that says whether CompiledModel is created."""
        return f"CompiledModel ({', '.join(self.stack.accelerators)}) is {'created' if self.is_created else 'not created'}"

    def total(self) -> Counter[str]:
        """Count the nodes at each place."""
        return sum(self.places().values(), Counter[str]())

    def _line(self) -> str:
        where = place_counts(self.total())
        return f"{self.target}: CompiledModel is {f'created; nodes run on {where}' if self.is_created else 'not created'}"

    def _tables(self) -> Mapping[str, Callable[[], Table]]:
        return {"places": self._places_table, **super()._tables()}

    def _shown(self) -> Mapping[str, Sequence[str]]:
        return {"places": _PLACES}

    def _summary(self) -> Sequence[tuple[str, str]]:
        return [(self._line(), "")]

    def _places_table(self) -> Table:
        rows = [(op, place, number) for op, counts in self.places().items() for place, number in counts.most_common()]
        return Table(_PLACES, rows)


def place_counts(counter: Counter[str]) -> str:
    """Return the number of nodes at each place as text, the largest first."""
    return ", ".join([f"{place} {number:,}" for place, number in counter.most_common()])


def parse_accelerators(text: str) -> tuple[str, ...]:
    """Return the accelerators that a text names, in the order in which LiteRT applies them.

    Raises OptionError if a name is unknown, or if the text names no accelerator.
    """
    named = [part.strip().lower() for part in text.split(",") if part.strip()]
    for part in named:
        if part not in ACCELERATORS:
            raise OptionError(f"there is no accelerator {part!r}; the accelerators are {', '.join(ACCELERATORS)}")
    if not named:
        raise OptionError(f"give at least one accelerator; the accelerators are {', '.join(ACCELERATORS)}")
    return tuple([name for name in ACCELERATORS if name in named])


def simulate_stack(model: Model, stack: Stack) -> StackResult:
    """Simulate a stack's accelerators on a model, in the order in which LiteRT applies them.

    Raises OptionError for an unknown vendor, a missing SoC, or an option that no accelerator has.
    """
    return next(simulate_stacks(model, [stack]))


def simulate_stacks(model: Model, stacks: Iterable[Stack]) -> Iterator[StackResult]:
    """Simulate several stacks on a model, as ``simulate_stack`` does.

    Stacks that differ only in the SoC share the result without the NPU.
    """
    without_npu: list[StackResult] = []

    def after_npu(stack: Stack) -> StackResult:
        others = _without_npu(stack)
        result = next((result for result in without_npu if result.stack == others), None)
        if result is None:
            result = _simulated(model, others, after_npu)
            without_npu.append(result)
        return result

    for stack in stacks:
        yield _simulated(model, stack, after_npu)


def _simulated(model: Model, stack: Stack, after_npu: Callable[[Stack], StackResult]) -> StackResult:
    known = {name for delegate in delegates_of(stack) for name in option_names(delegate.options)}
    for name in stack.options:
        if name not in known:
            raise OptionError(f"none of the accelerators {', '.join(stack.accelerators)} has an option {name!r}")
    # LiteRT does not apply a plugin to a model that was compiled ahead of time.
    has_plugin = "npu" in stack.accelerators and not precompiled(model).is_compiled
    every = zip(stack.accelerators, _targets(stack), strict=True)
    targets = [target for name, target in every if name != "npu" or has_plugin]
    # The runtime itself applies the CPU's delegate, after the delegates of all other accelerators.
    is_cpu_last = "cpu" in stack.accelerators and len(targets) > 1
    explicit, by_default = (targets[:-1], lambda: targets[-1]) if is_cpu_last else (targets, None)
    assumptions = Assumptions(registered=_registered(stack))
    runs = simulate_chain(model, explicit, by_default, assumptions) if explicit else ()
    is_created, notes = _outcome(model, stack, runs, after_npu, has_plugin)
    left = next(_left_nodes(runs), None) if is_created and "cpu" not in stack.accelerators else None
    if left is not None:
        is_created = False
        runs = tuple([replace(run, refusal=left) if run.refusal is None or run.refusal.is_at_invoke else run for run in runs])
        notes = (*notes, f"{left.message}, so CompiledModel is not created")
    elif is_created and any(run.refusal is not None and run.refusal.is_at_invoke for run in runs):
        notes = (*notes, "every run of the model fails, although CompiledModel is created")
    return StackResult(model, runs, is_chain=True, stack=stack, is_created=is_created, notes=notes)


def _without_npu(stack: Stack) -> Stack:
    others = replace(stack, accelerators=tuple([name for name in stack.accelerators if name != "npu"]), soc="")
    known = {name for delegate in delegates_of(others) for name in option_names(delegate.options)}
    return replace(others, options={name: value for name, value in stack.options.items() if name in known})


def _registered(stack: Stack) -> frozenset[str]:
    """Return the custom operators that CompiledModel registers. Operators for the GPU are excluded.

    If an NPU is requested, the operator of the dispatch delegate is included. ``Delegate.accelerator.registered_operators`` has
    the operators for the GPU.
    """
    registered = _STUBS_ON_CPU if "cpu" in stack.accelerators else frozenset[str]()
    return registered | {DISPATCH} if "npu" in stack.accelerators else registered


def delegates_of(stack: Stack) -> tuple[Delegate, ...]:
    """Return the delegates of a stack in the order in which they are applied. Raises OptionError for an unknown vendor."""
    return tuple([find_delegate(ACCELERATORS[name] or plugin_of(_vendor(stack))) for name in stack.accelerators])


def _parts_of_soc(stack: Stack) -> tuple[str, str]:
    vendor, _, soc = stack.soc.partition(":")
    return vendor.strip(), soc.strip()


def _vendor(stack: Stack) -> str:
    vendor, soc = _parts_of_soc(stack)
    if not vendor or ":" not in stack.soc:
        raise OptionError("the NPU needs a SoC: give it as VENDOR:SOC, such as google:Tensor_G5")
    plugin_of(vendor.lower())
    if not soc:
        raise OptionError(f"{vendor} is a vendor; give one of its SoCs: {', '.join(_known_socs(vendor))}")
    return vendor.lower()


def _targets(stack: Stack) -> Iterator[Target]:
    if FALLBACK_OPTION in stack.options:
        raise OptionError(
            f"{FALLBACK_OPTION} cannot be combined with accelerators: instead, add cpu to the accelerators, or leave cpu out"
        )
    _, soc = _parts_of_soc(stack)
    for delegate in delegates_of(stack):
        known = option_names(delegate.options)
        own = {key: value for key, value in stack.options.items() if key in known}
        if _SOC in known:
            own[_SOC] = soc
        values = parse_options(delegate.name, delegate.options, own)
        yield Target(delegate, values, stack.release, assume_ops_registered=stack.assume_ops_registered)


def _outcome(
    model: Model, stack: Stack, runs: Sequence[Run], after_npu: Callable[[Stack], StackResult], has_plugin: bool
) -> tuple[bool, tuple[str, ...]]:
    notes: list[str] = []
    if not runs or "npu" in stack.accelerators:
        notes += (*precompiled(model).words, *_compiled_for_another(model, stack))
    if not runs:
        return True, tuple(notes)
    first = runs[0]
    if "npu" in stack.accelerators:
        if first.refusal is not None and first.refusal.stage is Stage.READING:
            notes.append(
                "LiteRT cannot load the model, so CompiledModel cannot be created, whatever the accelerators are; the "
                "Interpreter may still load the model"
            )
            return False, tuple(notes)
        notes += (*_unknown_soc(stack), *_npu_notes(first, lambda: after_npu(stack))) if has_plugin else ()
    is_created = True
    for run in runs[has_plugin:]:
        if not (run.is_loaded and run.is_prepared):
            is_created = False
            notes.append("the runtime cannot run the nodes that stay on the CPU, so CompiledModel cannot be used")
            break
        if run.refusal is not None and run.refusal.is_at_invoke:
            break
        if run.outcome in ("refused", "restored"):
            is_created = False
            notes.append(
                f"{run.delegate.name} cannot be applied, so CompiledModel is not created, and no other accelerator is tried"
            )
        elif run.refusal is not None:
            is_created = False
            notes.append(f"the kernels of {run.delegate.name} cannot be created, so CompiledModel is not created")
    return is_created, tuple(notes)


def _left_nodes(runs: Sequence[Run]) -> Iterator[Refusal]:
    for subgraph, places in enumerate(placements(runs) if runs else ()):
        left = [node for node, place in places if place in _CPU_NAMES]
        if left:
            yield replace(not_fully_accelerated(left), subgraph=subgraph)


def _compiled_for_another(model: Model, stack: Stack) -> Iterator[str]:
    """Yield a note if the model was compiled for another SoC. The compiled code may not run on the requested SoC."""
    code = precompiled(model)
    _, soc = _parts_of_soc(stack)
    if code.is_stamped and code.soc.lower() != soc.lower():
        yield (
            f"the compiled code is for {printable(code.soc)} and may not run on {printable(stack.soc)}: compile the source "
            f"model for {printable(stack.soc)}"
        )


def _unknown_soc(stack: Stack) -> Iterator[str]:
    """Yield a note if the vendor's plugin does not know the SoC. Old names such as ``g5`` are also known."""
    vendor, soc = _parts_of_soc(stack)
    models = [full.partition(":")[2] for full in _known_socs(vendor)]
    if not any(model.lower().endswith(soc.lower()) for model in models):
        yield f"LiteRT's plugin does not know the SoC {printable(soc)}; it knows {', '.join(models)}"


def _known_socs(vendor: str) -> list[str]:
    return [full for full in dict.fromkeys(simulated_socs().values()) if full.startswith(f"{vendor.lower()}:")]


def _npu_notes(run: Run, after_npu: Callable[[], StackResult]) -> Iterator[str]:
    if run.outcome == "restored" or not (run.is_loaded and run.is_prepared):
        return
    if run.refusal is not None and run.refusal.stage is Stage.SELECTING:
        yield f"the plugin fails ({run.refusal.message}); {_GOES_ON}"
    elif run.outcome == "none":
        yield f"the plugin selects no node: {_GOES_ON}"
    else:
        yield (
            "selected nodes are not yet compiled: if the vendor's compiler fails for one partition, nothing runs on the NPU, "
            f"and {_outcome_without_npu(after_npu())}"
        )


def _outcome_without_npu(result: StackResult) -> str:
    accelerators = result.stack.accelerators
    if not accelerators:
        return "CompiledModel is not created, because it has no other accelerator"
    if result.refusal and result.is_created:
        return f"every run of the model fails, because {result.refusal}"
    if not result.is_created:
        because = f"CompiledModel is not created, because {result.refusal}"
        return because if result.refusal else f"then {result.notes[-1]}"
    first = result.runs[0]
    if accelerators == ("cpu",):
        return "CompiledModel continues with the CPU"
    measures, compute = measure(first), compute_of(first).totals
    shares = share_text(measures.delegated_nodes, measures.nodes, *reversed(compute))
    return f"{subject(first.target)} then runs {shares}{risks_text(number_risks(first), ', but ')}"
