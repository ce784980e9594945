"""The results of ``micro``, ``fix --micro`` and ``diagnose --micro``, as text and as plain data."""
