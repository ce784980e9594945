"""Read a model file as plain data (``Model``): the tables of the flatbuffer, without the weights."""
