"""The XNNPACK delegate (``delegates/xnnpack``). The runtime applies this delegate by default."""
