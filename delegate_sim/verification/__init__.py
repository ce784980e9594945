"""Run one model on a delegate's real code and with the CPU's reference kernels, and find the first node that differs."""
