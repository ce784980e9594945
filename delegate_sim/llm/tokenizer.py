"""The tokenizer of a bundle: SentencePiece or a compressed one of Hugging Face.

Source: google-ai-edge/LiteRT-LM, ``runtime/components/model_resources_litert_lm.cc`` and ``schema/core/litertlm_read.cc``.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..foundation.limits import raised
from .bundle import HF_TOKENIZER, SP_TOKENIZER, Bundle
from .protobuf import Message, ProtobufError
from .report import ENGINE, Stop, Stopped

_SIZE_BYTES = 8
_MOST_BYTES = 256 << 20
_SPACE = "▁"
_PIECES, _PIECE_TEXT, _PIECE_SCORE, _TRAINER, _TRAINER_TYPE, _BYTE_PAIRS = 1, 1, 2, 2, 3, 2
_LONGEST_PROMPT = 1 << 16


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A tokenizer: its kind, the number of its pieces (None if it was not read), and the scores of pieces for byte pairs."""

    kind: str
    pieces: int | None = None
    scores: Mapping[str, float] = field(default_factory=dict)

    def count(self, text: str) -> int | None:
        """Return the number of tokens of a text without the start token; None if this tokenizer is not simulated."""
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


def read_tokenizer(bundle: Bundle) -> Tokenizer:
    """Read the tokenizer. Raises Stopped."""
    content = bundle.bytes_of(SP_TOKENIZER)
    if content:
        return _sentence_pieces(content)
    content = bundle.bytes_of(HF_TOKENIZER)
    if content is not None and decompresses(content):
        return Tokenizer("Hugging Face")
    text = "NOT_FOUND: No tokenizer found in the model for model type: TF_LITE_PREFILL_DECODE"
    raise Stopped(Stop("tokenizer", text, hint="add a section with a SentencePiece or Hugging Face tokenizer"))


def decompresses(content: bytes) -> bool:
    """Return whether the bytes of a compressed tokenizer can be decompressed: a size of 8 bytes, and zlib data."""
    if len(content) < _SIZE_BYTES:
        return False
    size = int.from_bytes(content[:_SIZE_BYTES], "little")
    try:
        data = zlib.decompressobj().decompress(content[_SIZE_BYTES:], raised(_MOST_BYTES))
    except zlib.error:
        return False
    return len(data) == size


def _sentence_pieces(content: bytes) -> Tokenizer:
    try:
        message = Message(content)
        pieces = message.messages(_PIECES)
        trainer = message.message(_TRAINER)
    except ProtobufError as error:
        text = "model_proto->ParseFromString(serialized)"
        hint = f"the tokenizer is damaged ({error}): write the bundle again"
        raise Stopped(Stop("tokenizer", text, ENGINE, "SP_Tokenizer", hint=hint)) from error
    scores = dict[str, float]()
    if trainer is not None and trainer.integer(_TRAINER_TYPE) == _BYTE_PAIRS:
        for piece in pieces:
            score = piece.all(_PIECE_SCORE)
            bits = score[-1] if score and isinstance(score[-1], int) else 0
            scores[piece.text(_PIECE_TEXT)] = struct.unpack("<f", struct.pack("<I", bits))[0]
    return Tokenizer("SentencePiece", len(pieces), scores)
