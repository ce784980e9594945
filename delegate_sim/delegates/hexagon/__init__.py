"""The Hexagon delegate, which runs quantised nodes on Qualcomm's DSP (``delegates/hexagon``)."""
