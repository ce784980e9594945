"""The signatures of a decoder, and the roles of their inputs and outputs by name.

Source: google-ai-edge/LiteRT-LM, ``runtime/executor/litert_compiled_model_executor_utils.cc``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..model.model import Model, Signature, Tensor

PREFILL, DECODE = "prefill", "decode"
_ROLES = {
    "tokens": ("token_ids", "tokens"),
    "positions": ("positions", "input_pos"),
    "mask": ("attn_mask", "mask"),
    "local_mask": ("local_mask", "attn_mask_local", "local_attn_mask"),
    "embeddings": ("embeddings",),
    "per_layer_embeddings": ("per_layer_embeddings",),
    "parameters": ("param_tensor",),
}
_LOGITS = "logits"
_CACHES = (("kv_cache_k_", "kv_cache_v_"), ("k_cache_", "v_cache_"))
CONVOLUTION_CACHE = "kv_cache_c_"


@dataclass(frozen=True, slots=True)
class Roles:
    """The name of the input or output with each role, or None if there is none."""

    tokens: str | None = None
    positions: str | None = None
    mask: str | None = None
    local_mask: str | None = None
    embeddings: str | None = None
    per_layer_embeddings: str | None = None
    parameters: str | None = None
    logits: str | None = None


def roles_of(signature: Signature) -> Roles:
    """Return the roles of a signature's inputs and outputs. Inputs without a role are allowed."""
    roles = {role: name for name in signature.inputs for role, names in _ROLES.items() if name in names}
    return Roles(**roles, logits=_LOGITS if _LOGITS in signature.outputs else None)


def cache_roots(signature: Signature) -> tuple[str, str] | None:
    """Return the name prefixes of key caches and value caches, or None if no input or output is a cache."""
    for names in (signature.inputs, signature.outputs):
        for name in names:
            for keys, values in _CACHES:
                if name.startswith(keys):
                    return keys, values
    if any(name.startswith(CONVOLUTION_CACHE) for names in (signature.inputs, signature.outputs) for name in names):
        return CONVOLUTION_CACHE, CONVOLUTION_CACHE
    return None


def prefill_signatures(model: Model) -> tuple[Signature, ...]:
    """Return the signatures with a key that begins with ``prefill``."""
    return tuple([signature for signature in model.signatures if signature.key.startswith(PREFILL)])


def find_signature(model: Model, key: str) -> Signature | None:
    """Return the signature with a key, or None if there is none."""
    return next((signature for signature in model.signatures if signature.key == key), None)


def input_tensor(model: Model, signature: Signature, name: str | None) -> Tensor | None:
    """Return an input of a signature, or None if there is no such input."""
    return None if name is None else _tensor(model, signature, signature.inputs.get(name))


def output_tensor(model: Model, signature: Signature, name: str | None) -> Tensor | None:
    """Return an output of a signature, or None if there is no such output."""
    return None if name is None else _tensor(model, signature, signature.outputs.get(name))


def dimensions(tensor: Tensor) -> tuple[int, ...]:
    """Return the sizes of a tensor, with -1 for each unknown size."""
    return tensor.shape if tensor.shape_signature is None else tensor.shape_signature


def is_dynamic(tensor: Tensor) -> bool:
    """Return whether any size of a tensor is unknown."""
    return -1 in dimensions(tensor)


def starting_with(names: Iterable[str], beginning: str) -> list[str]:
    """Return the names that start with ``beginning``."""
    return [name for name in names if name.startswith(beginning)]


def _tensor(model: Model, signature: Signature, index: int | None) -> Tensor | None:
    if index is None or not 0 <= signature.subgraph < len(model.subgraphs):
        return None
    tensors = model.subgraphs[signature.subgraph].tensors
    return tensors[index] if 0 <= index < len(tensors) else None
