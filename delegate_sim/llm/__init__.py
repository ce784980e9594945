"""What LiteRT-LM's engine does with a bundle: its checks in order, from the header of the file to the first generated token."""
