"""The Core ML delegate (``delegates/coreml``). It runs float nodes on Apple's devices."""
