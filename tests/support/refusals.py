"""Failures of models for ``reduce``, decided in this process."""

from __future__ import annotations

from delegate_sim import load
from delegate_sim.reduction.failures import FailureTest, ObservedFailure


class ModelTest(FailureTest):
    """Fails with the message that a function returns for a model, unless the message is empty. Keeps the models that were run."""

    software = "fake-1.0"

    def __init__(self, refusal):
        self._refusal, self.models = refusal, []

    def run(self, content):
        self.models.append(load(content))
        message = self._refusal(self.models[-1])
        return ObservedFailure("exit code 1", message) if message else None

    def command(self, path):
        return f"fake {path}"
