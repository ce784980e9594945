"""Tokens are counted as a search for the best pair counts them, and in time that grows with the prompt."""

from __future__ import annotations

import random
import struct
import zlib

import pytest

from delegate_sim.errors import LimitError
from delegate_sim.foundation import work_budget
from delegate_sim.llm.sections import Tokenizer, _sentence_pieces, decompresses
from tests.support.work import calls

LETTERS = "abc\u2581"


def merged_by_search(text, scores):
    """Merge the best pair, found by a search through all pairs, until no pair is left."""
    symbols = list(text.replace(" ", "\u2581"))
    while True:
        pairs = [(scores[a + b], -at) for at, (a, b) in enumerate(zip(symbols, symbols[1:], strict=False)) if a + b in scores]
        if not pairs:
            return sum(1 if symbol in scores else len(symbol.encode()) for symbol in symbols)
        at = -max(pairs)[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]


@pytest.mark.parametrize("seed", range(30))
def test_the_best_pair_is_merged_first(seed):
    source = random.Random(seed)
    pieces = {"".join(source.choices(LETTERS, k=source.randint(1, 5))) for _ in range(60)}
    tokenizer = Tokenizer({piece: float(source.randint(-5, 0)) for piece in sorted(pieces)})
    for length in (0, 1, 2, 40):
        text = "".join(source.choices("abc ", k=length))
        assert tokenizer.count(text) == merged_by_search(text, tokenizer.scores)


def test_twice_the_prompt_is_twice_the_work():
    tokenizer = Tokenizer({"a" * length: -length for length in range(1, 100)})
    once, twice = (calls(tokenizer.count, "a" * count) for count in (2000, 4000))
    assert twice < 2.6 * once


def field(number, content):
    assert len(content) < 128
    return bytes([number << 3 | 2, len(content)]) + content


def model(count):
    pieces = [field(1, field(1, b"%d" % number) + b"\x15" + struct.pack("<f", -number)) for number in range(count)]
    return b"".join(pieces) + field(2, b"\x18\x02")


def test_the_pieces_of_a_tokenizer():
    scores = _sentence_pieces(model(3), is_counted=True).scores
    assert scores == {"0": 0.0, "1": -1.0, "2": -2.0}


def test_twice_the_tokenizer_is_twice_the_work():
    once, twice = (calls(lambda content: _sentence_pieces(content, is_counted=True), model(count)) for count in (1000, 2000))
    assert twice < 2.6 * once


def test_a_tokenizer_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 1000)
    with work_budget.work_budget(), pytest.raises(LimitError, match="fields of a protocol buffer"):
        _sentence_pieces(model(1000), is_counted=True)


def test_a_compressed_tokenizer_is_read_in_pieces(monkeypatch):
    content = random.Random(1).randbytes(300_000) + bytes(3_000_000)
    packed = len(content).to_bytes(8, "little") + zlib.compress(content)
    assert decompresses(packed)
    assert not decompresses(packed[:-1])
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 10)
    with work_budget.work_budget(), pytest.raises(LimitError, match="decompressing the tokenizer"):
        decompresses(packed)
