"""The GPU delegate v2 (``TfLiteGpuDelegateV2``)."""
