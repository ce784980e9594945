"""Activations and normalisations."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, Row, Table

TABLE: Table = {
    "GELU": Row(intel=ANY, mediatek=TYPED),
    "HARD_SWISH": Row(intel=ANY, mediatek=TYPED),
    "L2_NORMALIZATION": Row(intel=ANY, mediatek=TYPED.from_release("litert-2.1.5")),
    "LEAKY_RELU": Row(intel=ANY, mediatek=TYPED),
    "LOCAL_RESPONSE_NORMALIZATION": Row(google=REFUSED),
    "LOGISTIC": Row(intel=ANY, mediatek=TYPED),
    "PRELU": Row(intel=ANY, mediatek=TYPED),
    "RELU": Row(intel=ANY, mediatek=TYPED),
    "RELU_0_TO_1": Row(intel=ANY),
    "SOFTMAX": Row(intel=ANY, mediatek=TYPED),
    "TANH": Row(intel=ANY, mediatek=TYPED),
}
