"""The kernels of TensorFlow Lite Micro, one module for each family of operators."""
