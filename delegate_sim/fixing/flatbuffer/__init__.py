"""Write changed models as flatbuffers that contain the original bytes."""
