"""The Core ML delegate, which runs float nodes on Apple's devices (``delegates/coreml``)."""
