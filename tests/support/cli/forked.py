"""The program in a child of this process, which has the modules already, so that it begins with its work at once."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys

from delegate_sim_cli.start import main

_SECONDS = 120
"""The time after which a child ends, for example because it waits for a pipe."""


class Forked:
    """A running program. Its standard output goes to a file, by default nowhere. ``before`` is called in the child first."""

    def __init__(self, *arguments, folder=None, stdout=os.devnull, before=None):
        self._errors, errors = os.pipe()
        child = multiprocessing.get_context("fork").Process(target=_run, args=(arguments, folder, stdout, errors, before))
        child.start()
        os.close(errors)
        self._child = child

    def kill(self):
        self._child.kill()

    def ended(self):
        """Wait for the end, and return the exit code and what the program wrote to standard error."""
        with open(self._errors, encoding="utf-8") as errors:
            text = errors.read()
        self._child.join()
        return self._child.exitcode, text


def _run(arguments, folder, stdout, errors, before):
    signal.alarm(_SECONDS)
    os.chdir(folder or ".")
    for descriptor, opened in ((1, os.open(stdout, os.O_WRONLY)), (2, errors)):
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdout, sys.stderr = (os.fdopen(descriptor, "w", encoding="utf-8", closefd=False) for descriptor in (1, 2))
    if before is not None:
        before()
    sys.argv = ["delegate-sim", *arguments]
    main()
