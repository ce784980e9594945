"""Releases of the runtime: which are known, how each words its log lines, and what is not known of one."""
