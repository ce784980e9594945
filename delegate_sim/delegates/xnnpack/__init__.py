"""The XNNPACK delegate, which the runtime applies by default on the CPU (``delegates/xnnpack``)."""
