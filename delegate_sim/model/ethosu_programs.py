"""The Ethos-U NPU for which Vela compiled the programs in a model.

The first operand of an ``ethos-u`` node is a list of actions for Arm's driver. One action has the configuration of the NPU, which
the driver compares with its own NPU.

Source: ``create_driver_payload`` and ``emit_config`` (``ethosu/vela/driver_actions.py`` of Vela 5.2); ``ethosu_invoke_async``
(``src/ethosu_driver.c``) and ``ethosu_dev_verify_optimizer_config`` (``src/ethosu_device_u55_u65.c``) of Arm's core driver.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from ..bundles.ranged import part_of
from ..foundation.work_budget import spend_steps
from .model import Model, Node, Tensor

ETHOS_U = "ethos-u"
"""The custom operator of models that Vela compiled."""
_MARK = b"COP1"
_CONFIGURATION, _READ_REGISTER, _DUMP, _NOTHING = 1, 3, 4, 5
"""The actions in front of the commands. Each is one word, and the NPU's configuration has two further words."""
_WORDS_READ = 16
_PRODUCTS = {0: "u55", 1: "u65", 2: "u85"}
_LARGEST_EXPONENT = 11
"""The exponent of the most multiply-adds in a cycle, 2,048."""


def accelerator_of(model: Model, tensors: Sequence[Tensor], node: Node) -> str:
    """Return the NPU for which an ``ethos-u`` node was compiled, such as ``ethos-u65-256``, or "" if it is not known."""
    index = node.input(0)
    data = tensors[index].data if 0 <= index < len(tensors) else None
    if data is None:
        return ""
    spend_steps(_WORDS_READ, "reading the programs of an NPU")
    content = part_of(model.content, data[0], data[0] + min(data[1], 4 * _WORDS_READ))
    if content[:4] != _MARK:
        return ""
    words = [word for (word,) in struct.iter_unpack("<I", content[: len(content) // 4 * 4])]
    for action, configuration in zip(words[1:], words[2:], strict=False):
        if action & 0xFF == _CONFIGURATION:
            return _name(configuration)
        if action & 0xFF not in (_READ_REGISTER, _DUMP, _NOTHING):
            break
    return ""


def _name(configuration: int) -> str:
    product, exponent = _PRODUCTS.get(configuration >> 28), configuration & 0xF
    return f"ethos-{product}-{1 << exponent}" if product and exponent <= _LARGEST_EXPONENT else ""


def accelerators(model: Model) -> tuple[str, ...]:
    """Return the distinct NPUs for which the ``ethos-u`` nodes of a model were compiled, without those that are not known."""
    names = dict.fromkeys(
        accelerator_of(model, subgraph.tensors, node)
        for subgraph in model.subgraphs
        for node in subgraph.nodes
        if node.is_custom and node.custom_code == ETHOS_U
    )
    return tuple(filter(None, names))
