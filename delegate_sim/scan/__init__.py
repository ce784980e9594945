"""Scan many models on many targets with several processes into a resumable table."""
