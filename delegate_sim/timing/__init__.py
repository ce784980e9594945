"""Measured times: where the milliseconds of a device's op profile go, and what a fix can save at most."""
