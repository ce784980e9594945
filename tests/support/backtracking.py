"""Count the steps of a backtracking matcher, to find regular expressions whose time grows faster than the text."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

try:
    from re import _constants as codes
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as codes
    import sre_parse as parser

_MOST_REPEATS = 8
"""Finite bounds of repetitions are reduced to this number, so that short texts show whether time grows linearly."""
_MOST_STEPS = 200_000
_SHORT = 12
"""Number of repetitions in the shorter attack. The longer attack has twice as many."""
_GROWTH = 2.6
"""The longer attack takes at most so many times the steps of the shorter one. Quadratic time takes four times as many."""
_DEEPEST = 20_000
_SINGLE = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
_SAMPLES = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a_",
    codes.CATEGORY_NOT_WORD: " .",
}
_CATEGORIES = {
    codes.CATEGORY_DIGIT: re.compile(r"\d"),
    codes.CATEGORY_NOT_DIGIT: re.compile(r"\D"),
    codes.CATEGORY_SPACE: re.compile(r"\s"),
    codes.CATEGORY_NOT_SPACE: re.compile(r"\S"),
    codes.CATEGORY_WORD: re.compile(r"\w"),
    codes.CATEGORY_NOT_WORD: re.compile(r"\W"),
}

Item = tuple[Any, Any]


class TooManySteps(Exception):
    """Raised if a match takes more than ``_MOST_STEPS`` steps."""


class _Matcher:
    """Matches as Python's ``re`` does, and counts steps."""

    def __init__(self, tree: Sequence[Item], flags: int) -> None:
        self.tree = tree
        self.flags = flags
        self.text = ""
        self.steps = 0
        self.groups: dict[int, tuple[int, int]] = {}
        self.is_one: dict[tuple[int, str], bool] = {}

    def count(self, use: str, text: str) -> int:
        """Return the number of steps for a text. ``use`` is the method of the pattern."""
        self.text, self.steps, self.groups = text, 0, {}
        for start in range(1 if use in ("match", "fullmatch") else len(text) + 1):
            if self._sequence(self.tree, 0, start, lambda end: use != "fullmatch" or end == len(text)):
                break
        return self.steps

    def _spend(self, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > _MOST_STEPS:
            raise TooManySteps

    def _sequence(self, items: Sequence[Item], index: int, at: int, then: Callable[[int], bool]) -> bool:
        while index < len(items) and items[index][0] in _SINGLE:
            self._spend()
            if at >= len(self.text) or not self._is_one(items[index], self.text[at]):
                return False
            index, at = index + 1, at + 1
        if index == len(items):
            return then(at)
        self._spend()
        code, value = items[index]
        after: Callable[[int], bool] = lambda end: self._sequence(items, index + 1, end, then)  # noqa: E731
        if code is codes.BRANCH:
            return any(self._sequence(list(choice), 0, at, after) for choice in value[1])
        if code is codes.SUBPATTERN:
            return self._group(value, at, after)
        if code in _REPEATS:
            return self._repeat(code is codes.MAX_REPEAT, *value, at, after)
        if code is codes.AT:
            return self._is_at(value, at) and after(at)
        if code in (codes.ASSERT, codes.ASSERT_NOT):
            return self._looks(*value, at) == (code is codes.ASSERT) and after(at)
        if code is codes.GROUPREF:
            first, end = self.groups.get(value, (0, 0))
            told = self.text[first:end]
            return self.text.startswith(told, at) and after(at + len(told))
        raise NotImplementedError(code)

    def _group(self, value: Any, at: int, after: Callable[[int], bool]) -> bool:
        number, _, _, inside = value

        def close(end: int) -> bool:
            if number is not None:
                self.groups[number] = at, end
            return after(end)

        return self._sequence(list(inside), 0, at, close)

    def _repeat(self, is_greedy: bool, least: int, most: int, inside: Any, at: int, after: Callable[[int], bool]) -> bool:
        items = list(inside)
        least, most = min(least, _MOST_REPEATS), most if most is codes.MAXREPEAT else min(most, _MOST_REPEATS)
        if len(items) == 1 and items[0][0] in _SINGLE:
            count, limit = 0, min(most, len(self.text) - at)
            if is_greedy:
                while count < limit and self._is_one(items[0], self.text[at + count]):
                    count += 1
                self._spend(count)
                return any(after(at + number) for number in range(count, least - 1, -1))
            while count < least or not after(at + count):
                self._spend()
                if count >= limit or not self._is_one(items[0], self.text[at + count]):
                    return False
                count += 1
            return True

        def go(count: int, place: int) -> bool:
            def again() -> bool:
                return count < most and self._sequence(
                    items, 0, place, lambda end: (end != place or count < least) and go(count + 1, end)
                )

            def leave() -> bool:
                return count >= least and after(place)

            return (again() or leave()) if is_greedy else (leave() or again())

        return go(0, at)

    def _looks(self, direction: int, inside: Any, at: int) -> bool:
        if direction > 0:
            return self._sequence(list(inside), 0, at, lambda _: True)
        start = at - inside.getwidth()[0]
        return start >= 0 and self._sequence(list(inside), 0, start, lambda end: end == at)

    def _is_at(self, place: Any, at: int) -> bool:
        text = self.text
        is_multiline = bool(self.flags & re.MULTILINE)
        if place in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
            return at == 0 or (is_multiline and place is codes.AT_BEGINNING and text[at - 1] == "\n")
        if place is codes.AT_END_STRING:
            return at == len(text)
        if place is codes.AT_END:
            return at == len(text) or (text[at] == "\n" and (is_multiline or at + 1 == len(text)))
        is_word = [bool(_CATEGORIES[codes.CATEGORY_WORD].match(text[one : one + 1])) for one in (at - 1, at) if one >= 0]
        return (len(set([False, *is_word][-2:])) == 2) == (place is codes.AT_BOUNDARY)

    def _is_one(self, item: Item, letter: str) -> bool:
        key = id(item), letter
        if key not in self.is_one:
            self.is_one[key] = self._matches(item, letter)
        return self.is_one[key]

    def _matches(self, item: Item, letter: str) -> bool:
        code, value = item
        if code is codes.ANY:
            return letter != "\n" or bool(self.flags & re.DOTALL)
        letters = {letter, letter.lower(), letter.upper()} if self.flags & re.IGNORECASE else {letter}
        if code is codes.LITERAL:
            return any(ord(one) == value for one in letters if len(one) == 1)
        if code is codes.NOT_LITERAL:
            return ord(letter) != value
        is_negated = value[0][0] is codes.NEGATE
        return any(_is_in(part, one) for part in value for one in letters if len(one) == 1) != is_negated


def _is_in(part: Item, letter: str) -> bool:
    code, value = part
    if code is codes.LITERAL:
        return ord(letter) == value
    if code is codes.RANGE:
        return value[0] <= ord(letter) <= value[1]
    return code is codes.CATEGORY and _CATEGORIES[value].match(letter) is not None


def _letters(item: Item) -> str:
    """Return some letters that a single-letter item matches."""
    code, value = item
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.ANY:
        return "a "
    if code is codes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if value[0][0] is codes.NEGATE:
        return "".join([letter for letter in "a1 ._-" if not any(_is_in(part, letter) for part in value[1:])]) or "\x01"
    letters = ""
    for part_code, part in value:
        letters += chr(part) if part_code is codes.LITERAL else chr(part[0]) if part_code is codes.RANGE else _SAMPLES[part]
    return letters


def _sample(items: Sequence[Item]) -> str:
    """Return a short text that items match, if they have no assertions."""
    text = ""
    for code, value in items:
        if code in _SINGLE:
            text += _letters((code, value))[0]
        elif code is codes.BRANCH:
            text += _sample(list(value[1][0]))
        elif code is codes.SUBPATTERN:
            text += _sample(list(value[3]))
        elif code in _REPEATS:
            text += _sample(list(value[2])) * min(value[0], _MOST_REPEATS)
    return text


def _repetitions(items: Sequence[Item], before: str = "") -> Iterator[tuple[str, Sequence[Item]]]:
    """Yield the content of each repetition with several repeats, and a text that the items before the repetition match."""
    for index, (code, value) in enumerate(items):
        start = before + _sample(items[:index])
        if code is codes.BRANCH:
            for choice in value[1]:
                yield from _repetitions(list(choice), start)
        elif code is codes.SUBPATTERN:
            yield from _repetitions(list(value[3]), start)
        elif code in (codes.ASSERT, codes.ASSERT_NOT) and value[0] > 0:
            yield from _repetitions(list(value[1]), start)
        elif code in _REPEATS:
            if value[1] > 1:
                yield start, list(value[2])
            yield from _repetitions(list(value[2]), start)


def _attacks(tree: Sequence[Item]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a beginning and a part that is repeated after the beginning."""
    found: dict[tuple[str, str], None] = {}
    letters: dict[str, None] = {}
    repetitions = list(_repetitions(tree))
    for _, items in repetitions:
        for item in items:
            if item[0] in _SINGLE:
                letters |= dict.fromkeys(_letters(item)[:4])
    for before, items in repetitions:
        own = dict.fromkeys([_sample(items), *(_letters(items[0]) if items[0][0] in _SINGLE else "")])
        found |= dict.fromkeys([(before, part) for part in own if part])
        if before:
            found["", before] = None
        for letter in letters:
            found |= {(before, letter): None, ("", before + letter): None}
    yield from found


def slow_text(pattern: re.Pattern[str], use: str) -> str | None:
    """Return the start of a text on which the time of a pattern grows faster than the text, or None if no text is known.

    ``use`` is the method that gets the text: ``match``, ``fullmatch``, or another name for a search.
    """
    tree = list(parser.parse(pattern.pattern, pattern.flags))
    # If each choice takes linear time, so does the whole pattern.
    choices = [list(choice) for choice in tree[0][1][1]] if [code for code, _ in tree] == [codes.BRANCH] else [tree]
    depth = sys.getrecursionlimit()
    sys.setrecursionlimit(_DEEPEST)
    try:
        return next(filter(None, [_slow_text(_Matcher(choice, pattern.flags), use) for choice in choices]), None)
    finally:
        sys.setrecursionlimit(depth)


def _slow_text(matcher: _Matcher, use: str) -> str | None:
    for beginning, part in _attacks(matcher.tree):
        for end in ("\x00", ""):
            texts = [beginning + part * (_SHORT * factor) + end for factor in (1, 2)]
            try:
                short, long = (matcher.count(use, text) for text in texts)
            except TooManySteps:
                return texts[0]
            if long > _GROWTH * short:
                return texts[0]
    return None


def captures_long_number(pattern: re.Pattern[Any]) -> bool:
    """Return whether a group of a pattern captures digits without a limit on their number."""
    is_text = isinstance(pattern.pattern, str)
    return is_text and _has_long_number(parser.parse(pattern.pattern, pattern.flags), is_captured=False)


def _has_long_number(part: Any, *, is_captured: bool) -> bool:
    """Return whether a part of a parsed pattern captures such a number. ``is_captured`` is true inside of a group."""
    match part:
        case (codes.MAX_REPEAT | codes.MIN_REPEAT, (_, codes.MAXREPEAT, inner)) if is_captured and all(map(_is_digit, inner)):
            return True
        case (codes.SUBPATTERN, (number, *_)):
            is_captured = is_captured or number is not None
    parts = part if isinstance(part, tuple | list | parser.SubPattern) else ()
    return any(_has_long_number(inner, is_captured=is_captured) for inner in parts)


def _is_digit(item: Item) -> bool:
    """Return whether an item matches digits, and nothing else but separators of digits."""
    digits = [(codes.CATEGORY, codes.CATEGORY_DIGIT), (codes.RANGE, (ord("0"), ord("9")))]
    separators = [(codes.LITERAL, ord(character)) for character in ",._"]
    return item[0] is codes.IN and any(one in digits for one in item[1]) and all(one in digits + separators for one in item[1])
