"""The metadata of a bundle: ``LlmMetadata`` and ``ExecutorMetadata``.

Source: google-ai-edge/LiteRT-LM, ``runtime/proto/llm_metadata.proto``, ``llm_model_type.proto`` and ``executor_metadata.proto``.
"""

from __future__ import annotations

from dataclasses import dataclass

from .protobuf import ProtobufError, ProtobufMessage, packed_integers

MODEL_NAMES = {
    1: "generic_model",
    2: "gemma3n",
    3: "function_gemma",
    4: "gemma3",
    5: "qwen3",
    7: "qwen2p5",
    8: "gemma4",
    9: "fast_vlm",
    11: "lfm2",
    12: "minicpm5",
    13: "gemma3270m",
}
"""The model families, by field of ``LlmModelType``."""
UNKNOWN_MODEL = "unknown"
"""The family to use if the metadata does not name a known family."""
UNCLUSTERED_MODEL = "gemma4"
"""The family for which the runtime must keep the order of nodes on the CPU."""


@dataclass(frozen=True, slots=True)
class LlmMetadata:
    """The fields of ``LlmMetadata`` that the engine checks or that reports show."""

    model_name: str | None
    """The family of the model; None if the metadata does not have this field."""
    max_num_tokens: int
    """The largest number of tokens; 0 if the metadata does not have this field."""
    stop_tokens: int
    """The number of stop tokens that are not empty."""
    has_start_token: bool
    min_runtime_version: str


@dataclass(frozen=True, slots=True)
class StateBuffer:
    """One state of the model that the engine keeps between runs, such as a cache."""

    names: tuple[str, ...]
    """The state's names in the metadata, in the order prefill input, prefill output, decode input, decode output."""
    prefill_input: str
    decode_input: str
    type: int
    sequence_axis: int | None


def read_llm_metadata(content: bytes) -> LlmMetadata:
    """Read ``LlmMetadata``. Raises ProtobufError."""
    message = ProtobufMessage(content)
    model_type = message.message(6)
    numbers = () if model_type is None else model_type.numbers
    names = [MODEL_NAMES[number] for number in numbers if number in MODEL_NAMES]
    return LlmMetadata(
        None if model_type is None else [UNKNOWN_MODEL, *names][-1],
        message.integer(5),
        sum(_is_token(token) for token in message.messages(2)),
        message.has(1),
        message.text(14),
    )


def read_state_buffers(content: bytes | None) -> tuple[StateBuffer, ...] | None:
    """Return the state buffers of ``ExecutorMetadata``, or None if the bytes are missing or damaged.

    The engine ignores damaged bytes.
    """
    if content is None:
        return None
    try:
        message = ProtobufMessage(content).message(1)
        return () if message is None else tuple([_state_buffer(buffer) for buffer in message.messages(2)])
    except ProtobufError:
        return None


def _state_buffer(buffer: ProtobufMessage) -> StateBuffer:
    names = [buffer.text(number) for number in (1, 2, 3, 4)]
    axis = buffer.integer(7) if buffer.has(7) else None
    return StateBuffer(tuple([name for name in names if name]), names[0], names[2], buffer.integer(6), axis)


def _is_token(token: ProtobufMessage) -> bool:
    ids = token.message(1)
    return bool(token.text(2)) or (ids is not None and bool(packed_integers(ids, 1)))
