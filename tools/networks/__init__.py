"""Random networks, drawn with TensorFlow and litert-torch, to check `fix` on models that its passes were not written for."""
