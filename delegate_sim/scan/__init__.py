"""Many models on many targets: judged by several processes, kept in a table, and gone on with after an interruption."""
