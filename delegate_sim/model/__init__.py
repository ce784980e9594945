"""Model files: the flatbuffer's tables as plain data (``Model``), read without its weights."""
