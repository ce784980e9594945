"""Activation functions and normalization."""

from __future__ import annotations

from .checks import ANY, REFUSED, TYPED, PluginRow, PluginTable

TABLE: PluginTable = {
    "GELU": PluginRow(intel=ANY, mediatek=TYPED),
    "HARD_SWISH": PluginRow(intel=ANY, mediatek=TYPED),
    "L2_NORMALIZATION": PluginRow(intel=ANY, mediatek=TYPED.from_release("litert-2.1.5")),
    "LEAKY_RELU": PluginRow(intel=ANY, mediatek=TYPED),
    "LOCAL_RESPONSE_NORMALIZATION": PluginRow(google=REFUSED),
    "LOGISTIC": PluginRow(intel=ANY, mediatek=TYPED),
    "PRELU": PluginRow(intel=ANY, mediatek=TYPED),
    "RELU": PluginRow(intel=ANY, mediatek=TYPED),
    "RELU_0_TO_1": PluginRow(intel=ANY),
    "SOFTMAX": PluginRow(intel=ANY, mediatek=TYPED),
    "TANH": PluginRow(intel=ANY, mediatek=TYPED),
}
