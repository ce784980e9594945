"""The XNNPACK delegate (``delegates/xnnpack``). The runtime applies it by default on the CPU."""
