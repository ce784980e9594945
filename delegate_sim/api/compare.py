"""Compare models, targets and hypothetical changes: ``delegate_sim.compare`` and ``whatif``."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..diagnosis.advice.node_advice import advised_comparison
from ..errors import OptionError
from ..hypothetical.hypothetical_changes import HypotheticalChanges
from ..live.live_runs import run_side
from ..results.compare.comparison import Comparison, hypothetical_side, simulated_side
from ..results.compare.comparison import compare as compare_sides
from ..runtime.target import ignore_identifier
from .arguments import changed_target, hypothetical_changes_of, target_of, timings_of
from .calls import ModelLike, NodeLike, PathsLike, model_of, public

if TYPE_CHECKING:
    from ..timing.measured import Timing


@public
def compare(
    a: ModelLike,
    b: ModelLike | None = None,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    changed: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str = "benchmark",
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
) -> Comparison:
    """Compare two models on one target, or one model on two targets, node by node.

    Side A is the model ``a`` on the target that the other arguments describe (see ``analyze``). Side B is the model ``b``, by
    default ``a``. B's target is A's target with the changes in ``changed``: ``delegate``, ``runtime``, ``defaults``, or
    options of B's delegate. Nodes are matched by structure, so renumbered and renamed nodes still match. ``op_profile`` has
    the times of side A. A delegate that cannot be simulated, such as ``ethos-u55-128``, is run on this host. Raises the errors
    of ``analyze``, and OptionError if A and B have the same model and target.
    """
    before = target_of(delegate, options, runtime, defaults, assume_ops_registered, is_live=True)
    after = changed_target(before, options, changed, is_live=True)
    any_identifier = ignore_identifier([before, after])
    first = model_of(a, any_identifier=any_identifier)
    if (b is None or b is a) and after == before:
        raise OptionError("A and B are the same: give a second model, or changed={'delegate': ...}")
    second = first if b is None or b is a else model_of(b, any_identifier=any_identifier)
    comparison = advised_comparison(compare_sides(run_side(first, before), run_side(second, after)))
    return _timed(comparison, timings_of(op_profile, first, [before]))


@public
def whatif(
    model: ModelLike,
    delegate: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    accept: Collection[str | NodeLike] = (),
    set_versions: Mapping[str | NodeLike, int] | None = None,
    batch: int | None = None,
    resize: Mapping[str, Sequence[int]] | None = None,
    fix_shapes: bool = False,
    to: str | None = None,
    changed: Mapping[str, Any] | None = None,
    runtime: str | None = None,
    defaults: str = "benchmark",
    assume_ops_registered: bool = False,
    op_profile: PathsLike = (),
) -> Comparison:
    """Simulate hypothetical changes of a model, a delegate or a runtime, and compare the result with the original.

    Side A is the unchanged model, on the target that the arguments describe (see ``analyze``). Side B has the hypothetical
    changes. On side B, the delegate accepts the operators and nodes in ``accept``. A node is given as its index, or as a pair of
    subgraph index and node index. ``set_versions`` sets the versions of operators or nodes. ``batch`` sets the first dimension of
    every input. ``resize`` has the sizes to which the application resizes inputs, by name. With ``fix_shapes``, every tensor has
    the shape that is stored in the model file. ``to`` assumes another conversion: ``float``, ``int8``, ``int8-per-tensor``, or
    another value of ``whatif --to``. ``changed`` changes the target of side B (see ``compare``). ``op_profile`` has the times of
    side A. Raises the errors of ``analyze``, and OptionError if no change is given or the model lacks a named operator, node or
    input.
    """
    before = target_of(delegate, options, runtime, defaults, assume_ops_registered)
    after = changed_target(before, options, changed)
    hypothetical = hypothetical_changes_of(accept, set_versions, batch, resize, fix_shapes, to)
    if after == before and hypothetical == HypotheticalChanges():
        raise OptionError("nothing to change: give accept, set_versions, batch, resize, fix_shapes, to or changed")
    loaded = model_of(model, any_identifier=ignore_identifier([after]))
    sides = simulated_side(loaded, before), hypothetical_side(loaded, after, hypothetical)
    return _timed(advised_comparison(compare_sides(*sides)), timings_of(op_profile, loaded, [before]))


def _timed(comparison: Comparison, timings: Sequence[Timing]) -> Comparison:
    if not timings:
        return comparison
    from ..timing.fixes import timed_comparison  # slow to import, and only needed for profiles

    return timed_comparison(comparison, timings)
