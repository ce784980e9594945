"""The model file: tables of a flatbuffer as plain data (``Model``), read without the weights."""
