"""Simulate many models on many targets with several processes. An interrupted scan can be resumed."""
