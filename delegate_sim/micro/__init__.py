"""TensorFlow Lite Micro as a runtime: which operators it lacks, which nodes its kernels refuse, and how much arena a model needs."""
