"""Measured times from a device's op profile: the milliseconds of nodes and kernels, and bounds on what a fix can save."""
