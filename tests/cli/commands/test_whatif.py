def test_every_index_is_of_the_file(run):
    """The assumed conversion adds a QUANTIZE before the first node, so all indices in the assumed model are larger."""
    text = run("whatif", "fixtures/models/mobilenet_block.tflite", "--delegate", "gpu", "--to", "int8", "--verbose").stdout
    assert "ARG_MAX: 1 node [14]" in text
    assert "QUANTIZE: 1 node [added by the change]" in text


def test_a_resized_input_is_named(run):
    done = run("whatif", "fixtures/models/mobilenet_block.tflite", "--resize", "float32_input_0=1,16,16,3", "--delegate", "gpu")
    assert "assumed: input float32_input_0 resized to [1, 16, 16, 3]" in done.stdout
