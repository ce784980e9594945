"""TensorFlow Lite Micro as a runtime: the operators that it lacks, the nodes that its kernels refuse, and the arena."""
