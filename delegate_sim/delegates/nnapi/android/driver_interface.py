"""Descriptions of the NNAPI driver and devices.

``reconcile`` uses the descriptions to explain device logs and to learn from the logs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from ....graph.graph import Graph
from ....graph.partition import Subset
from ....releases.catalogue import NEWEST, Release
from ...decision import Decision
from ...driver import DevicesInterface, DeviceTraits, DriverInterface, DriverQuestion, DriverQuestions, StageOperation
from ...options import OptionValues
from ..kinds import DRIVER
from ..lowering.operators import driver_operations
from ..options import asks_driver
from ..partitions import Partitions
from ..supported_nodes import supported_nodes
from ..target import REFERENCE_DEVICE
from .driver_answers import is_all_or_nothing


def _stage_operations(decision: Decision, subsets: Sequence[Subset]) -> Iterator[tuple[StageOperation, ...]]:
    from .device_profile_text import stage_operations  # only needed to learn profiles from logs

    return stage_operations(decision, subsets)


def _profile_text(devices: Sequence[DeviceTraits], options: OptionValues) -> str:
    from .device_profile_text import profile_text  # only needed to learn profiles from logs

    return profile_text(devices, options)


def driver_questions(graph: Graph, options: OptionValues, release: Release = NEWEST) -> DriverQuestions | None:
    """Return the questions that the delegate asks the driver about a subgraph.

    Return None if the delegate does not ask the driver, or if a partition cannot be built.
    """
    decision, has_float16 = supported_nodes(graph, options, release)
    if not decision.nodes or not asks_driver(options):
        return None
    questions = []
    partitions = Partitions(decision.graph, options, release)
    for subset in decision.candidates:
        lowered = partitions.lowered(subset)
        if lowered.failure is not None or lowered.calls:
            return None
        whole = is_all_or_nothing(decision.graph, subset.nodes)
        questions.append(DriverQuestion(decision.graph, subset.nodes, lowered.operations, whole))
    return DriverQuestions(tuple(questions), has_float16)


DRIVER_INTERFACE = DriverInterface("driver", "accelerator_name", DRIVER.name, driver_questions, driver_operations())
DEVICES_INTERFACE = DevicesInterface(
    "devices", REFERENCE_DEVICE, MappingProxyType({"disallow_nnapi_cpu": "false"}), _stage_operations, _profile_text
)
