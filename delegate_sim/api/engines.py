"""Simulate runtimes other than the interpreter: CompiledModel, TensorFlow Lite Micro and LiteRT-LM's engine."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..delegates.devices import full_soc_name, recognized_soc_name
from ..delegates.options import without_release
from ..delegates.registry import ACCELERATORS
from ..diagnosis.advice.node_advice import advised
from ..errors import OptionError
from ..llm.engine import run_engine
from ..llm.report import BackendReport
from ..micro.report import MicroReport
from ..micro.report import analyze as analyze_model
from ..micro.target import CHECKED, MicroTarget, parse_kernels, parse_micro_release
from ..releases.catalogue import parse_release
from ..results.report.accelerator_stack import Stack, StackResult, parse_accelerators, simulate_stack
from .arguments import agreed
from .calls import ModelLike, model_of, names_of, paths_of, public, require_bool


@public
def compiled_model(
    model: ModelLike,
    accelerators: str | Sequence[str] | None = None,
    soc: str = "",
    options: Mapping[str, Any] | None = None,
    *,
    runtime: str | None = None,
    assume_ops_registered: bool = False,
) -> StackResult:
    """Simulate LiteRT 2's CompiledModel with the given accelerators.

    The result tells whether the CompiledModel can be created (``is_created``) and where each node runs (``places()``). It also
    has ``notes`` about failures and the ``report`` of every step. ``accelerators`` lists some of ``npu``, ``gpu`` and ``cpu``,
    by default all three. The accelerators are applied in this order. ``npu`` requires ``soc``: a vendor and a SoC such as
    ``google:Tensor_G5``, or only the name of a SoC or a phone. ``places()`` assumes that every node that the vendor's plugin
    selects runs on the NPU. The vendor's compiler is not simulated, and may reject such a node. ``options`` are passed to the
    plugin and to the delegates that have these options. Without ``npu``, ``soc`` makes no difference. Raises ModelError if the
    model cannot be read, and OptionError for an unknown accelerator, vendor, SoC, option, value or runtime. Also raises
    OptionError if ``npu`` is given without ``soc``.
    """
    require_bool("assume_ops_registered", assume_ops_registered)
    asked = parse_accelerators(",".join(ACCELERATORS if accelerators is None else names_of(accelerators, "accelerators")))
    if not isinstance(soc, str):
        raise OptionError(f"soc must be a string such as 'google:Tensor_G5', not {soc!r}")
    if options is not None and not isinstance(options, Mapping):
        raise OptionError(f"options must be a mapping of names to values, not {options!r}")
    own, release = without_release(options or {})
    loaded = model_of(model)
    name = (full_soc_name if "npu" in asked else recognized_soc_name)(soc) if soc else ""
    stack = Stack(asked, name if "npu" in asked else "", own, parse_release(agreed([runtime, release])), assume_ops_registered)
    return replace(simulate_stack(loaded, stack), adviser=advised)


@public
def analyze_micro(
    model: ModelLike, *, registered: Collection[str] | None = None, kernels: str = "reference", runtime: str | None = None
) -> MicroReport:
    """Report what TensorFlow Lite Micro does with a model: missing operators, refused nodes, and the size of the arena.

    ``registered`` names the operators in the application's resolver, such as ``CONV_2D`` or the name of a custom operator. By
    default, all operators of the runtime are registered. ``kernels`` is ``reference`` or ``cmsis-nn``. ``runtime`` names the
    copy of the runtime: a version of ``tflite-micro``, a day or a commit. ``target.runtime.is_checked`` of the result is False
    if the rules were not compared with this copy.
    Raises ModelError if the model cannot be read, and OptionError for unknown kernels or an unknown form of ``runtime``.
    """
    release = CHECKED if runtime is None else parse_micro_release(runtime)
    operators = None if registered is None else frozenset(registered)
    target = MicroTarget(operators, parse_kernels(kernels), runtime=release)
    return analyze_model(model_of(model, any_identifier=True), target)


@public
def analyze_bundle(
    path: str | os.PathLike[str], backend: str = "cpu", options: Mapping[str, Any] | None = None, *, runtime: str | None = None
) -> BackendReport:
    """Report whether LiteRT-LM's engine starts with a bundle (``.litertlm``). If not, report the check that fails.

    ``backend`` runs the text decoder: ``cpu``, ``gpu``, ``npu`` or ``gpu_artisan``. ``options`` may have ``vision`` and ``audio``
    (the backends for images and sound), ``cache_dir``, ``prompt``, and ``kw``. ``kw`` is a dictionary of settings of the engine,
    such as ``max_num_tokens``. The result has ``outcome`` (``starts``, ``refused``, ``starts-then-fails`` or ``crash``),
    ``stage``, ``error`` (the engine's own text), ``stop`` (section, signature and node) and ``replacements``.
    Raises ModelError if the file cannot be read, and OptionError for unknown arguments.
    """
    if not isinstance(backend, str):
        raise OptionError(f"backend must be a string such as 'cpu', not {backend!r}")
    if options is not None and not isinstance(options, Mapping):
        raise OptionError(f"options must be a mapping of names to values, not {options!r}")
    return run_engine(paths_of(path, "path")[0], backend, dict(options or {}), parse_release(agreed([runtime])))
