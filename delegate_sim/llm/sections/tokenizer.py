"""The tokenizer of a bundle: a SentencePiece tokenizer, or a compressed Hugging Face tokenizer.

Source: google-ai-edge/LiteRT-LM, ``runtime/components/model_resources_litert_lm.cc`` and ``schema/core/litertlm_read.cc``.
"""

from __future__ import annotations

import heapq
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...foundation.limits import raised
from ...foundation.work_budget import spend_bytes, spend_steps
from ..bundle import HF_TOKENIZER, SP_TOKENIZER, Bundle
from ..report import ENGINE, Stop, Stopped
from .metadata import ProtobufError, ProtobufMessage, fields_of

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
