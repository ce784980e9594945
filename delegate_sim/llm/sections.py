"""The metadata of a bundle, ``LlmMetadata`` and ``ExecutorMetadata``, and its SentencePiece or Hugging Face tokenizer.

Source: google-ai-edge/LiteRT-LM, ``runtime/proto/llm_metadata.proto``, ``llm_model_type.proto`` and ``executor_metadata.proto``;
``runtime/components/model_resources_litert_lm.cc`` and ``schema/core/litertlm_read.cc``.
"""

from __future__ import annotations

import heapq
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..foundation.limits import raised
from ..foundation.work_budget import spend_bytes, spend_steps
from .bundle import HF_TOKENIZER, SP_TOKENIZER, Bundle
from .report import ENGINE, Stop, Stopped

_MOST_FIELDS = 1 << 20
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_WIDTHS = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}
_LONGEST_VARINT = 10

FieldValue = int | bytes


class ProtobufError(ValueError):
    """Raised if bytes are not a protocol buffer."""


class ProtobufMessage:
    """One message: its fields in order, as pairs of number and value. Nested messages, strings and packed numbers are bytes."""

    def __init__(self, content: bytes) -> None:
        self._fields = tuple(fields_of(content))

    def all(self, number: int) -> list[FieldValue]:
        """Return all values of a field."""
        return [value for field, value in self._fields if field == number]

    def has(self, number: int) -> bool:
        """Return whether the message has a field."""
        return any(field == number for field, _ in self._fields)

    def integer(self, number: int) -> int:
        """Return the last integer of a field as a signed number, or 0 if there is none."""
        values = [value for value in self.all(number) if isinstance(value, int)]
        return _signed(values[-1]) if values else 0

    def content(self, number: int) -> bytes | None:
        """Return the last bytes value of a field, or None if there is none."""
        values = [value for value in self.all(number) if isinstance(value, bytes)]
        return values[-1] if values else None

    def text(self, number: int) -> str:
        """Return the last string of a field, or an empty string if there is none."""
        return (self.content(number) or b"").decode("utf-8", "replace")

    def message(self, number: int) -> ProtobufMessage | None:
        """Return the last message of a field, or None if there is none. Raises ProtobufError."""
        content = self.content(number)
        return None if content is None else ProtobufMessage(content)

    def messages(self, number: int) -> list[ProtobufMessage]:
        """Return all messages of a field. Raises ProtobufError."""
        return [ProtobufMessage(value) for value in self.all(number) if isinstance(value, bytes)]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the fields, in order."""
        return tuple([field for field, _ in self._fields])


def packed_integers(message: ProtobufMessage, number: int) -> list[int]:
    """Return the integers of a repeated field, which may be packed. Raises ProtobufError."""
    return [integer for value in message.all(number) for integer in integers_of(value)]


def integers_of(value: FieldValue) -> list[int]:
    """Return the signed integers in a value of a field, which is a number or packed numbers. Raises ProtobufError."""
    if isinstance(value, int):
        return [_signed(value)]
    integers, at = list[int](), 0
    while at < len(value):
        integer, at = _varint(value, at)
        integers.append(_signed(integer))
    return integers


def fields_of(content: bytes) -> Iterator[tuple[int, FieldValue]]:
    """Yield the fields of a message in order, as pairs of number and value. Raises ProtobufError, and LimitError."""
    at, count, most = 0, 0, raised(_MOST_FIELDS)
    while at < len(content):
        count += 1
        if count > most:
            raise ProtobufError(f"has more than {most:,} fields")
        spend_steps(1, "reading the fields of a protocol buffer")
        key, at = _varint(content, at)
        number, kind = key >> 3, key & 7
        if not number:
            raise ProtobufError("has a field without a number")
        if kind == _VARINT:
            value, at = _varint(content, at)
            yield number, value
            continue
        if kind == _BYTES:
            size, at = _varint(content, at)
        elif kind in _WIDTHS:
            size = _WIDTHS[kind]
        else:
            raise ProtobufError(f"has a field of the unknown wire type {kind}")
        if size > len(content) - at:
            raise ProtobufError("ends inside a field")
        part = content[at : at + size]
        at += size
        yield number, part if kind == _BYTES else int.from_bytes(part, "little")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = 0
    for count in range(_LONGEST_VARINT):
        if at + count >= len(content):
            raise ProtobufError("ends inside a number")
        byte = content[at + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value & ((1 << 64) - 1), at + count + 1
    raise ProtobufError("has a number of more than 64 bits")


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


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


_SIZE_BYTES = 8
_MOST_BYTES = 256 << 20
_SPACE = "▁"
_PIECES, _PIECE_TEXT, _PIECE_SCORE, _TRAINER, _TRAINER_TYPE, _BYTE_PAIRS = 1, 1, 2, 2, 3, 2
_LONGEST_PROMPT = 1 << 16
_PIECE_BYTES = 1 << 20
_INPUT_BYTES = 1 << 16
_SMALL = 1 << 20
_STEPS_OF_A_CHARACTER = 10


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer: the scores for merging byte pairs, or none if the tokenizer is not simulated or was not read."""

    scores: Mapping[str, float] = field(default_factory=dict)

    def count(self, text: str) -> int | None:
        """Return the number of tokens of a text without the start token, or None if this tokenizer is not simulated."""
        if not self.scores or len(text) > raised(_LONGEST_PROMPT):
            return 0 if not text else None
        spend_steps(_STEPS_OF_A_CHARACTER * len(text), "counting the tokens of the prompt")
        symbols = _merged(list(text.replace(" ", _SPACE)), self.scores)
        return sum(1 if symbol in self.scores else len(symbol.encode()) for symbol in symbols)


def _merged(symbols: list[str], scores: Mapping[str, float]) -> list[str]:
    """Merge the adjacent pair with the highest score, the first one of equal pairs, until no pair has a score."""
    end = len(symbols)
    following = [at + 1 for at, _ in enumerate(symbols)]
    previous = [at - 1 for at, _ in enumerate(symbols)]
    pairs: list[tuple[float, int, str]] = []

    def add(left: int) -> None:
        if left < 0 or following[left] >= end:
            return
        pair = symbols[left] + symbols[following[left]]
        if pair in scores:
            heapq.heappush(pairs, (-scores[pair], left, pair))

    for left in range(len(symbols)):
        add(left)
    while pairs:
        _, left, pair = heapq.heappop(pairs)
        right = following[left]
        if right >= end or not symbols[left] or symbols[left] + symbols[right] != pair:
            continue  # another pair with one of these symbols was merged before
        symbols[left], symbols[right] = pair, ""
        following[left] = following[right]
        if following[left] < end:
            previous[following[left]] = left
        add(previous[left])
        add(left)
    return [symbol for symbol in symbols if symbol]


def read_tokenizer(bundle: Bundle, *, is_counted: bool) -> Tokenizer:
    """Read the tokenizer. Raises Stopped.

    ``is_counted`` must be true if ``count`` will be called. Otherwise, the scores of a large tokenizer are not read.
    """
    content = bundle.bytes_of(SP_TOKENIZER)
    if content:
        return _sentence_pieces(content, is_counted=is_counted)
    content = bundle.bytes_of(HF_TOKENIZER)
    if content is not None and decompresses(content):
        return Tokenizer()
    text = "NOT_FOUND: No tokenizer found in the model for model type: TF_LITE_PREFILL_DECODE"
    raise Stopped(Stop("tokenizer", text, hint="add a section with a SentencePiece or Hugging Face tokenizer"))


def decompresses(content: bytes) -> bool:
    """Return whether a compressed tokenizer can be decompressed.

    A compressed tokenizer consists of 8 bytes with the size, followed by zlib data.
    """
    if len(content) < _SIZE_BYTES:
        return False
    decompressor, count = zlib.decompressobj(), 0
    try:
        for start in range(_SIZE_BYTES, len(content), _INPUT_BYTES):
            left = content[start : start + _INPUT_BYTES]
            while left and not decompressor.eof:
                spend_bytes(_PIECE_BYTES, "decompressing the tokenizer")
                count += len(decompressor.decompress(left, _PIECE_BYTES))
                left = decompressor.unconsumed_tail
                if count > raised(_MOST_BYTES):
                    return False
    except zlib.error:
        return False
    return decompressor.eof and count == int.from_bytes(content[:_SIZE_BYTES], "little")


def _sentence_pieces(content: bytes, *, is_counted: bool) -> Tokenizer:
    try:
        message = ProtobufMessage(content)
        if not is_counted and len(content) > _SMALL:
            return Tokenizer()
        trainer = message.message(_TRAINER)
        is_simulated = trainer is not None and trainer.integer(_TRAINER_TYPE) == _BYTE_PAIRS
        scores = _scores(message) if is_counted else {}
    except ProtobufError as error:
        text = "model_proto->ParseFromString(serialized)"
        hint = f"build the bundle again: the tokenizer {error}"
        raise Stopped(Stop("tokenizer", text, ENGINE, "SP_Tokenizer", hint=hint)) from error
    return Tokenizer(scores if is_simulated else {})


def _scores(message: ProtobufMessage) -> dict[str, float]:
    scores = dict[str, float]()
    for content in message.all(_PIECES):
        if not isinstance(content, bytes):
            continue
        text, bits = b"", 0
        for number, value in fields_of(content):
            if number == _PIECE_TEXT and isinstance(value, bytes):
                text = value
            elif number == _PIECE_SCORE:
                bits = value if isinstance(value, int) else 0
        scores[text.decode("utf-8", "replace")] = struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]
    return scores
