"""The ``mldrift`` delegate: the GPU accelerator of LiteRT 2 (ML Drift)."""
