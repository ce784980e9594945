"""The Hexagon delegate, which runs quantized nodes on Qualcomm's DSP (``delegates/hexagon``)."""
