"""The model file: the tables of a flatbuffer as plain data (``Model``), which are read without the weights."""
