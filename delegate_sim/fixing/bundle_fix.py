"""Fix all models of a LiteRT-LM bundle or ``.task`` file, and write the file with the rewritten models.

All other sections or members keep their bytes. For a LiteRT-LM bundle, the original and the rewritten bundle are given to the
simulated engine.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..bundles.address import join_address
from ..bundles.formats import TASK, format_at
from ..bundles.task_files import task_models, with_task_models
from ..errors import FixError, LimitError, ModelError
from ..foundation.columns import INTEGER, LIST, OBJECT, YES_OR_NO, Column, Declared
from ..foundation.files import file_content, open_input, write_by
from ..foundation.outputs import OutputFile, check_output
from ..foundation.printable import printable
from ..graph.effort import SharedEffort
from ..llm.engine import run_on_targets
from ..llm.packing import model_sections, with_models
from ..llm.report import BackendReport
from ..model.reader import load
from ..runtime.target import Target
from .fix import Fixed, fix, fix_document
from .passes.base import Exactness, Pass
from .passes.catalogue import PASSES
from .search import FixPlan, search


@dataclass(frozen=True, slots=True)
class SectionFix(Declared):
    """One section or member with a model, the plan for the model, and the rewritten model if the bundle was written.

    If the model cannot be rewritten, ``plan`` is None and ``problem`` is the reason.
    """

    columns = (
        *(Column("number", INTEGER), Column("name"), Column("is_changed", YES_OR_NO)),
        Column("problem", source=lambda section: section.problem or None),
        Column("fix", OBJECT, source=lambda own: None if own.plan is None else fix_document(own.plan, own.fixed)),
    )

    number: int
    name: str
    plan: FixPlan | None
    problem: str = ""
    fixed: Fixed | None = None

    @property
    def is_changed(self) -> bool:
        """True if the plan changes the model."""
        return self.plan is not None and self.plan.is_changed


@dataclass(frozen=True, slots=True)
class EngineChange:
    """The engine's reports for one backend: on the original bundle, and on the rewritten bundle."""

    backend: str
    before: BackendReport
    after: BackendReport


@dataclass(frozen=True, slots=True)
class BundleFix(Declared):
    """The plans for all models of a bundle. If the bundle was written: its path, its size, and the engine's reports."""

    document = "fix-bundle"
    columns = (
        *(Column("bundle", source="path"), Column("written")),
        *(Column("sections", LIST, parts=SectionFix.columns), Column("engine", LIST)),
    )

    path: str
    targets: tuple[Target, ...]
    sections: tuple[SectionFix, ...]
    written: str | None = None
    size: int = 0
    engine: tuple[EngineChange, ...] = ()

    @property
    def is_changed(self) -> bool:
        """True if at least one model is changed."""
        return any(section.is_changed for section in self.sections)


def search_bundle(
    path: str,
    targets: Sequence[Target],
    allowed: Exactness = Exactness.ROUNDING,
    report: Callable[[str], None] = lambda _: None,
    passes: Mapping[str, Pass] = PASSES,
) -> BundleFix:
    """Search for the passes that improve each model of a bundle.

    Each model is searched like a model file. A model that cannot be read or rewritten stays unchanged. All models share one
    limit on simulations. Raises ModelError if the bundle itself cannot be read.
    """
    shared = SharedEffort()
    plans = []
    for number, name in _models_of(path):
        report(name)
        try:
            if shared.is_over:
                raise LimitError(shared.reason)
            plan = search(load(join_address(path, name)), targets, allowed, passes=passes, report=report, shared=shared)
            plans.append(SectionFix(number, name, plan))
        except (ModelError, FixError, LimitError) as error:
            plans.append(SectionFix(number, name, None, str(error)))
    return BundleFix(path, tuple(targets), tuple(plans))


def _models_of(path: str) -> Sequence[tuple[int, str]]:
    """Return the number and name of each section or member with a model. Raises ModelError if the bundle cannot be read."""
    if format_at(path) == TASK:
        return tuple(enumerate(task_models(path)))
    return tuple([(section.number, name) for section, name in model_sections(path)])


def _write(plan: BundleFix, path: str, contents: Mapping[int, memoryview]) -> None:
    if format_at(plan.path) == TASK:
        names = {section.number: section.name for section in plan.sections}
        with_task_models(plan.path, path, {names[number]: content for number, content in contents.items()})
    else:
        with_models(plan.path, path, contents)


def fix_bundle(
    plan: BundleFix, path: str, *, replaces: bool = False, proves: bool = True, samples: int | None = None
) -> BundleFix:
    """Write a bundle with the rewritten models of a plan, and return what was written.

    First, each rewritten model is proven as in ``fix``. If one model cannot be proven, write nothing and raise FixError with
    the name of its section.
    """
    check_output(OutputFile(path, is_forced=replaces), [plan.path])
    if not plan.is_changed:
        raise FixError("no pass improves a model of the bundle, so there is nothing to write")
    with tempfile.TemporaryDirectory() as folder:
        sections: list[SectionFix] = []
        contents: dict[int, memoryview] = {}
        for section in plan.sections:
            fixed = None
            if section.plan is not None and section.is_changed:
                file = os.path.join(folder, f"{section.number}.tflite")
                try:
                    fixed = fix(section.plan, file, proves=proves, samples=samples)
                except FixError as error:
                    raise FixError(printable(f"{section.name}: {error}")) from error
                fixed = replace(fixed, path=join_address(path, section.name))
                with open_input(file) as written:
                    contents[section.number] = file_content(written)
            sections.append(replace(section, fixed=fixed))
        changes: tuple[EngineChange, ...] = ()

        def fill(temporary: str) -> None:
            nonlocal changes
            _write(plan, temporary, contents)
            changes = _engine_changes(plan, temporary, path)

        size = write_by(path, fill, replaces=replaces)
    return replace(plan, sections=tuple(sections), written=path, size=size, engine=changes)


def _engine_changes(plan: BundleFix, temporary: str, path: str) -> tuple[EngineChange, ...]:
    """Return what changes on each backend. The new bundle is still at ``temporary``; the results name its later ``path``."""
    if format_at(plan.path) == TASK:
        return ()
    changes = zip(run_on_targets(plan.path, plan.targets), run_on_targets(temporary, plan.targets), strict=True)
    return tuple([EngineChange(old.backend.lower(), old, replace(new, path=path)) for old, new in changes])
