"""Small language models with random weights, converted with litert-torch, to check the answers for LiteRT-LM bundles."""
