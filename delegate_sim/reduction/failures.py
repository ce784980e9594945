"""Programs and delegates that fail on a model, and the comparison of their failures."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..delegates.options import parse_options
from ..delegates.registry import find_live
from ..errors import DelegateSimError, LimitError, OptionError
from ..foundation.printable import command_line, printable, shortened
from ..foundation.processes import clean_environment, signal_name
from ..live.engine import SECONDS, Finished, run_limited
from ..live.live_runs import ready_engine
from ..live.trial import lacking
from ..model.model import Model
from ..model.reader import load
from ..verification.verification import Verification
from ..verification.verify import Verifier, verify_on

PLACEHOLDER = "{model}"
"""The argument of a command that stands for the path of the model."""
MODEL_NAME = "model.tflite"
_STEM = "tensor"
_ERROR = re.compile(
    r"error|fail|fatal|abort|assert|exception|panic|unsupported|not supported|invalid|cannot|could not|unable|refus|crash",
    re.IGNORECASE,
)
_NO_ERROR = re.compile(r"\W*(?:info|warning|warn|verbose|debug|note)\b|[IWVD]\d{4} ", re.IGNORECASE)
"""The start of a line that a logger marks as harmless."""
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")
_WORD = re.compile(r"[^\s\"'`,()\[\]{}<>=]+")
_NEUTRAL = re.compile(rf"{_STEM}_\d+")
_LONGEST_LINE = 2000


class ObservedFailure(NamedTuple):
    """A failure of a program or a delegate on a model."""

    status: str
    """The end of the process, such as ``exit code 1`` or ``SIGSEGV``. Empty if it does not count."""
    message: str
    """The first line of the output that reports an error. Empty if there is none."""
    compared: str = ""
    """The text that the same failure has on another model, if this is not the message."""


class FailureTest(ABC):
    """A program or a delegate that is run on models."""

    software: str = ""
    """The name and version of the code. Empty if they are not known."""

    @abstractmethod
    def run(self, content: bytes) -> ObservedFailure | None:
        """Run the code on the bytes of a model file, and return the failure. Return None if there is no failure."""

    @abstractmethod
    def command(self, path: str) -> str:
        """Return a command line that repeats the failure with the model at a path."""

    def suspects(self, model: Model) -> Sequence[tuple[int, Sequence[int]]]:
        """Return the nodes that are probably at fault, for each of some subgraphs. Empty if nothing is known about them."""
        return ()


class ProgramTest(FailureTest):
    """A program of the user. It fails on a model if its exit code is not 0, or if its output has the text ``match``.

    ``words`` are the program and its arguments. ``PLACEHOLDER`` in an argument stands for the path of the model, which is
    otherwise the last argument. The program runs in a new folder that has only the model. Raise OptionError if it does not start.
    """

    def __init__(self, text: str, match: str = "", seconds: int = SECONDS) -> None:
        self._text, self._match, self._seconds = text, match, seconds
        try:
            words = shlex.split(text)
            if "\0" in text or "\0" in match:
                raise ValueError("embedded null byte")
        except ValueError as error:
            raise OptionError(printable(f"the command {text!r} cannot be split into words: {error}")) from error
        if not words:
            raise OptionError("the command is empty")
        self._program = _program(words[0])
        has_place = any(PLACEHOLDER in word for word in words[1:])
        self._arguments = words[1:] if has_place else [*words[1:], PLACEHOLDER]

    def run(self, content: bytes) -> ObservedFailure | None:
        """Run the program. See ``FailureTest``."""
        with tempfile.TemporaryDirectory() as name:
            folder = os.path.realpath(name)
            path = os.path.join(folder, MODEL_NAME)
            Path(path).write_bytes(content)
            command = [self._program, *(word.replace(PLACEHOLDER, path) for word in self._arguments)]
            finished = run_limited(command, os.environ, folder, self._seconds)
        if finished.status == 127 and finished.output.startswith("[Errno "):
            raise OptionError(printable(f"the command cannot be started: {finished.output}"))
        output = finished.output.replace(f"{folder}{os.sep}", "").replace(folder, "")
        if self._match:
            lines = [line for line in output.splitlines() if self._match in line]
            return ObservedFailure("", _shown(lines[0]), self._match) if lines else None
        status = _status(finished)
        return ObservedFailure(status, error_line(output)) if status else None

    def command(self, path: str) -> str:
        """Return the user's command with the path of the model."""
        text = self._text if PLACEHOLDER in self._text else f"{self._text} {PLACEHOLDER}"
        return text.replace(PLACEHOLDER, shlex.quote(path))


class LiveTest(FailureTest):
    """The real code of a delegate on this host. It fails if it does not compile, create or run the model, or if it crashes."""

    def __init__(self, name: str, options: Mapping[str, str], sdks: Sequence[str] = ()) -> None:
        delegate = find_live(name)
        self._name, self._given, self._sdks = name, options, sdks
        self._engine = ready_engine(delegate, sdks)
        lacks = lacking(self._engine)
        if lacks:
            raise OptionError(f"{name} cannot run here: it lacks {lacks} ('delegate-sim doctor' shows more)")
        self._options = parse_options(name, delegate.options, {**self._engine.fixed_options, **options})
        self.software = self._engine.software

    def run(self, content: bytes) -> ObservedFailure | None:
        """Give the model to the delegate. See ``FailureTest``."""
        decision = self._engine.decide(load(content), self._options, to_end=True)
        stage = decision.second_stage
        if stage is not None and stage.has_failed:
            return ObservedFailure("", _shown(error_line("\n".join(stage.errors)) or "not compiled"))
        if not decision.has_failed:
            return None
        line, end = error_line(decision.output), _shown(decision.end)
        return ObservedFailure(end, line) if line else ObservedFailure("", end)

    def command(self, path: str) -> str:
        """Return the command that runs the delegate."""
        options = [word for name, value in self._given.items() for word in ("--option", f"{name}={value}")]
        options += [word for sdk in self._sdks for word in ("--sdk", sdk)]
        return command_line(["analyze", path, "--delegate", self._name, *options, "--live"])


class NumbersTest(FailureTest):
    """A delegate that computes other numbers than the CPU's reference kernels, or does not run the model."""

    def __init__(self, name: str) -> None:
        self._verifier = Verifier(name)
        self._name = name

    def run(self, content: bytes) -> ObservedFailure | None:
        """Compare the outputs. See ``FailureTest``."""
        model = load(content)
        result = verify_on(self._verifier, model, searches=False)
        self.software = result.software
        return _numbers_failure(result)

    def command(self, path: str) -> str:
        """Return the command that compares the outputs."""
        return command_line(["verify", path, "--on", self._name])

    def suspects(self, model: Model) -> Sequence[tuple[int, Sequence[int]]]:
        """Return the nodes that ``verify`` finds at fault."""
        culprits = [entry.culprit for entry in verify_on(self._verifier, model).entries if entry.culprit is not None]
        return [
            (
                culprit.subgraph,
                [node.index for node in model.subgraphs[culprit.subgraph].nodes[culprit.first_node : culprit.node + 1]],
            )
            for culprit in culprits
        ]


def _numbers_failure(result: Verification) -> ObservedFailure | None:
    for entry in result.entries:
        if entry.failure:
            return ObservedFailure(f"fails at {entry.stage}", error_line(entry.failure) or _shown(entry.failure))
    wrong = [difference for entry in result.entries for difference in entry.wrong]
    if not wrong:
        return None
    worst = max(wrong, key=lambda difference: difference.relative)
    message = worst.problem or f"an output differs by {100 * worst.relative:.3g} % of its range"
    return ObservedFailure("wrong numbers", _shown(message), "wrong numbers")


def error_line(output: str) -> str:
    """Return the first line of a program's output that reports an error, or the last line if no line does.

    Warnings and similar lines of a log come last, and so do indented lines, such as those of a traceback.
    """
    lines = [line for line in output.splitlines() if line.strip()]
    for chosen in ([line for line in lines if not (line[0].isspace() or _NO_ERROR.match(line))], lines):
        for line in chosen:
            if _ERROR.search(line[:_LONGEST_LINE]):
                return _shown(line)
    return _shown(lines[-1]) if lines else ""


class FailureComparison:
    """Decides whether two models fail in the same way: with the same status and the same message.

    Numbers, names of the original model and neutral names do not count, because they change when nodes are removed.
    """

    def __init__(self, model: Model) -> None:
        names = {tensor.name for graph in model.subgraphs for tensor in graph.tensors}
        names |= {graph.name for graph in model.subgraphs}
        for signature in model.signatures:
            names |= {signature.key, *signature.inputs, *signature.outputs}
        self._names = frozenset(names)

    def is_same(self, one: ObservedFailure, other: ObservedFailure) -> bool:
        """Return whether two failures are the same."""
        return self._key(one) == self._key(other)

    def _key(self, failure: ObservedFailure) -> tuple[str, str]:
        return failure.status, self._without_details(failure.compared or failure.message)

    def _without_details(self, text: str) -> str:
        def neutral(match: re.Match[str]) -> str:
            bare = match[0].rstrip(".:;")
            return "NAME" + match[0][len(bare) :] if bare in self._names or _NEUTRAL.fullmatch(bare) else match[0]

        return _NUMBER.sub("0", _WORD.sub(neutral, text))


def neutral_name(number: int) -> str:
    """Return the neutral name of a tensor."""
    return f"{_STEM}_{number}"


def run_candidate(test: FailureTest, content: bytes) -> ObservedFailure | None:
    """Run a test on a part of a model. A part that cannot be read or run otherwise does not fail.

    Raise LimitError if no time is left.
    """
    try:
        return test.run(content)
    except LimitError:
        raise
    except DelegateSimError:
        return None


def _program(word: str) -> str:
    path = os.path.abspath(word) if os.path.dirname(word) else shutil.which(word, path=clean_environment().get("PATH", ""))
    if path is None or not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise OptionError(printable(f"the command cannot be started: there is no program {word!r}"))
    return path


def _status(finished: Finished) -> str:
    if finished.status is None:
        return "time limit"
    if finished.status < 0:
        return signal_name(-finished.status)
    return f"exit code {finished.status}" if finished.status else ""


def _shown(line: str) -> str:
    return shortened(printable(line.strip()))
