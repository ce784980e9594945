"""The Hexagon delegate (``delegates/hexagon``). It runs quantized nodes on Qualcomm's DSP."""
