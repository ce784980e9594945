def test_every_index_is_of_the_file(run):
    """The assumed conversion adds a QUANTIZE before the first node, so all indices in the assumed model are larger."""
    text = run("whatif", "fixtures/models/mobilenet_block.tflite", "--delegate", "gpu", "--to", "int8", "--verbose").stdout
    assert "ARG_MAX: 1 node [14]" in text
    assert "QUANTIZE: 1 node [added by the change]" in text
