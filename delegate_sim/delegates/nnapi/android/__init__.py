"""The parts of Android that the delegate calls: the NNAPI runtime, the devices of a phone, and their drivers."""
