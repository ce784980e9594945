"""LSTM cells, in the full form with one operand for each gate, and in the basic form with joint weights."""

from __future__ import annotations

from ...gpu_compatibility import recurrent
from .checks import UP_TO_4, gpu_rule

RULES = {"LSTM": gpu_rule("LSTMOperationParser", *recurrent.LSTM, version_in=UP_TO_4)}
