"""Read a model file as plain data (``Model``)."""
