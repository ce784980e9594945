"""Arm's Ethos-U NPUs, for which Arm's compiler Vela decides about nodes."""
