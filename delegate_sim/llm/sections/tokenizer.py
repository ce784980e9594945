"""The tokenizer of a bundle: a SentencePiece tokenizer, or a compressed Hugging Face tokenizer.

Source: google-ai-edge/LiteRT-LM, ``runtime/components/model_resources_litert_lm.cc`` and ``schema/core/litertlm_read.cc``.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...foundation.limits import raised
from ..bundle import HF_TOKENIZER, SP_TOKENIZER, Bundle
from ..report import ENGINE, Stop, Stopped
from .protobuf import ProtobufError, ProtobufMessage

_SIZE_BYTES = 8
_MOST_BYTES = 256 << 20
_SPACE = "▁"
_PIECES, _PIECE_TEXT, _PIECE_SCORE, _TRAINER, _TRAINER_TYPE, _BYTE_PAIRS = 1, 1, 2, 2, 3, 2
_LONGEST_PROMPT = 1 << 16
_PIECE_BYTES = 1 << 20
_SMALL = 1 << 20


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer: the scores for merging byte pairs, or none if the tokenizer is not simulated or was not read."""

    scores: Mapping[str, float] = field(default_factory=dict)

    def count(self, text: str) -> int | None:
        """Return the number of tokens of a text without the start token, or None if this tokenizer is not simulated."""
        if not self.scores or len(text) > raised(_LONGEST_PROMPT):
            return 0 if not text else None
        symbols = list(text.replace(" ", _SPACE))
        while True:
            pairs = [
                (self.scores[pair], -number)
                for number, pair in enumerate([left + right for left, right in zip(symbols, symbols[1:], strict=False)])
                if pair in self.scores
            ]
            if not pairs:
                break
            at = -max(pairs)[1]
            symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]
        return sum(1 if symbol in self.scores else len(symbol.encode()) for symbol in symbols)


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
    decompressor, left, count = zlib.decompressobj(), content[_SIZE_BYTES:], 0
    try:
        while left:
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
        pieces = message.messages(_PIECES)
        trainer = message.message(_TRAINER)
    except ProtobufError as error:
        text = "model_proto->ParseFromString(serialized)"
        hint = f"build the bundle again: the tokenizer {error}"
        raise Stopped(Stop("tokenizer", text, ENGINE, "SP_Tokenizer", hint=hint)) from error
    return Tokenizer(_scores(pieces) if trainer and trainer.integer(_TRAINER_TYPE) == _BYTE_PAIRS else {})


def _scores(pieces: Sequence[ProtobufMessage]) -> dict[str, float]:
    scores = dict[str, float]()
    for piece in pieces:
        score = piece.all(_PIECE_SCORE)
        bits = score[-1] if score and isinstance(score[-1], int) else 0
        scores[piece.text(_PIECE_TEXT)] = struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0]
    return scores
