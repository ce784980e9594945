"""Arm's Ethos-U NPUs. Arm's compiler Vela decides about their nodes."""
