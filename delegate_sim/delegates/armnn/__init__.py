"""Arm NN's TensorFlow Lite delegate, with its backends CpuRef and CpuAcc."""
