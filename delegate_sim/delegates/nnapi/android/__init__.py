"""Android behind the delegate: the NNAPI runtime, the devices of a phone and their drivers."""
