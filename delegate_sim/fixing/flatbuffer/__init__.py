"""Write changed models as flatbuffers that reuse the original bytes."""
