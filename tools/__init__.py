"""Generators and checks: programs that write parts of this repository, or hold it against other projects."""
