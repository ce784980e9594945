"""Every setting of every converter, run with the real ones: those of this Python, or of DELEGATE_SIM_CONVERTERS.

That variable names interpreters, separated as in PATH. All scripts for a source run in one process, which takes the time of one
start; `test_a_conversion_in_its_own_process` goes the whole way.
"""

import functools
import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from delegate_sim import load
from delegate_sim.conversion import model_code
from delegate_sim.conversion.calibration import find_calibration
from delegate_sim.conversion.convert import convert
from delegate_sim.conversion.converters import Route, find_converters, routes
from delegate_sim.conversion.scripts import FLOAT_MODEL, RESULT, scripts
from delegate_sim.conversion.settings import OPTIONS, parse_settings, settings_for
from delegate_sim.conversion.sources import find_source

PYTHONS = [path for path in os.environ.get("DELEGATE_SIM_CONVERTERS", "").split(os.pathsep) if path]

KERAS = """
import keras
image = keras.layers.Input((8, 8, 4), name="image")
rows = keras.layers.Reshape((64, 6))(keras.layers.Conv2D(6, 3, padding="same", activation="relu")(image))
products = keras.ops.matmul(rows, keras.ops.transpose(rows, (0, 2, 1)))
model = keras.Model(image, keras.layers.Dense(16)(keras.layers.Flatten()(products)))
model.save("model.keras")
model.export("saved", verbose=False)
"""
TORCH = """
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution, self.dense = torch.nn.Conv2d(4, 6, 3, padding=1), torch.nn.Linear(4096, 16)
    def forward(self, image):
        rows = torch.relu(self.convolution(image)).flatten(2)
        return self.dense((rows.transpose(1, 2) @ rows).flatten(1))
image = torch.randn(2, 4, 8, 8)
module = Net().eval()
torch.export.save(torch.export.export(module, (image,), dynamic_shapes=({0: torch.export.Dim("batch")},)), "model.pt2")
names = dict(input_names=["image"], output_names=["result"], dynamic_axes={"image": {0: "batch"}})
torch.onnx.export(module, (image,), "open.onnx", dynamo=False, **names)
torch.onnx.export(module, (image[:1],), "model.onnx", dynamo=False)
"""
DRAW = """
import tensorflow as tf
tf.io.write_file("images/a.png", tf.io.encode_png(tf.fill((20, 30, 4), tf.cast(51, tf.uint8))))
"""
SAVED = """
import tensorflow as tf

class Computes(tf.Module):
    def __init__(self):
        self.weights, self.count = tf.Variable(tf.ones((4, 4))), tf.Variable(0)
        self.table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 0)
        self.generator = tf.random.Generator.from_seed(1)

    @tf.function(input_signature=[tf.TensorSpec((None, 4)), tf.TensorSpec((None,), tf.string)])
    def call(self, rows, names):
        self.count.assign_add(1)
        rows = tf.map_fn(lambda row: row * 2, rows @ self.weights)
        shape = tf.shape(rows)
        rows = tf.cond(tf.reduce_sum(rows) > 0, lambda: rows + self.generator.normal(shape), lambda: tf.random.uniform(shape))
        tf.debugging.assert_greater(tf.shape(rows)[0], 0)
        return rows, self.table.lookup(names)

class Writes(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((), tf.string)])
    def call(self, text):
        tf.io.write_file("file.txt", text)

class Reads(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((), tf.string)])
    def call(self, text):
        return tf.io.read_file("/etc/hosts")

for module in (Computes(), Writes(), Reads()):
    tf.saved_model.save(module, type(module).__name__.lower())
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    image = tf.compat.v1.placeholder(tf.float32, (None, 4))
    result = image @ tf.compat.v1.get_variable("w", (4, 4), use_resource=False)
    session.run(tf.compat.v1.global_variables_initializer())
    tf.compat.v1.saved_model.simple_save(session, "version1", {"image": image}, {"result": result})
"""
MAKE = """
import keras
def make():
    return keras.models.load_model({path!r})
"""
RUN = """
import json, os, sys, traceback
failed = {}
for name, text, wanted, result in json.load(open(sys.argv[1])):
    os.makedirs(name, exist_ok=True)
    os.chdir(name)
    try:
        if wanted and not os.path.lexists("float.tflite"):
            os.symlink(wanted, "float.tflite")
        exec(compile(text, name, "exec"), {"__name__": "__main__"})
    except BaseException:
        failed[name] = traceback.format_exc()[-2000:]
    os.chdir("..")
json.dump(failed, open(sys.argv[1], "w"))
"""


@functools.cache
def converters():
    return find_converters(PYTHONS or None)


def converter(name):
    found = next((each for each in converters() if each.name == name and not each.is_missing), None)
    if found is None:
        pytest.skip(f"{name} is not installed, and DELEGATE_SIM_CONVERTERS names no Python that has it")
    return found


def run(python, text, folder, *arguments):
    path = os.pathsep.join([os.path.dirname(python), os.environ["PATH"]])
    done = subprocess.run(
        [python, "-c", text, *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def run_all(python, jobs, folder):
    """Run scripts, by name, with the float model that each wants; assert that all end well."""
    (folder / "jobs.json").write_text(json.dumps(jobs))
    run(python, RUN, folder, "jobs.json")
    assert json.loads((folder / "jobs.json").read_text()) == {}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sources")


@pytest.fixture(scope="module")
def of_keras(folder):
    run(converter("tensorflow").python, KERAS, folder)
    return folder


@pytest.fixture(scope="module")
def of_torch(folder):
    run(converter("litert-torch").python, TORCH, folder)
    return folder


def convert_all(path, route, names, tmp_path, calibration=None):
    """Return the models of some settings; all must convert."""
    source, data = find_source(str(path)), find_calibration(calibration, 2)
    steps = [(name, scripts(source, route, parse_settings(name), data)) for name in names]
    jobs = [(name, each[-1].text, "", RESULT) for name, each in steps]
    if route.quantizer is not None:
        floats = {each[0].text: name for name, each in steps}
        first = tmp_path / "floats"
        first.mkdir()
        run_all(route.converter.python, [(name, text, "", FLOAT_MODEL) for text, name in floats.items()], first)
        jobs = [(name, each[1].text, str(first / floats[each[0].text] / FLOAT_MODEL), RESULT) for name, each in steps]
    run_all(route.steps[-1].python, jobs, tmp_path)
    return {name: load(str(tmp_path / name / RESULT)) for name in names}


def tensors(model, *, is_constant=None):
    found = [tensor for subgraph in model.subgraphs for tensor in subgraph.tensors]
    return [tensor for tensor in found if is_constant in (None, tensor.is_constant)]


def weights_of(model, op):
    """The weights of all nodes of an operator."""
    [subgraph] = model.subgraphs
    return [subgraph.tensors[node.inputs[1]] for node in subgraph.nodes if node.op == op]


def scales_of(model):
    """All scales, in an order of their own: that of independent nodes differs from run to run."""
    return sorted([tuple(map(float, tensor.quantization.scales)) for tensor in tensors(model) if tensor.quantization])


def operators(model):
    return {node.op for subgraph in model.subgraphs for node in subgraph.nodes}


def assert_as_asked(name, model):
    """The model has what its settings ask for."""
    settings = parse_settings(name)
    [subgraph] = model.subgraphs
    inputs = [subgraph.tensors[index] for index in subgraph.inputs]
    io = {"int8": "INT8", "int16x8": "INT16"}[settings.quantization] if "integer-io" in settings.options else "FLOAT32"
    assert {tensor.type for tensor in inputs} == {io}
    types = {tensor.type for tensor in tensors(model)}
    data = {tensor.type for tensor in tensors(model, is_constant=False)}
    assert ("FLOAT16" in types) == (settings.quantization == "float16")
    assert ("INT8" in data) == (settings.quantization == "int8")
    assert ("INT16" in data) == (settings.quantization == "int16x8")
    assert ("INT4" in types) == settings.quantization.endswith("int4")
    dense = weights_of(model, "FULLY_CONNECTED")
    filters = weights_of(model, "CONV_2D")
    assert dense
    assert filters
    if "dense-per-tensor" in settings.options or "per-tensor" in settings.options:
        assert all(len(tensor.quantization.scales) == 1 for tensor in dense if tensor.type == "INT8")
    if settings.quantization in ("int8", "int16x8"):
        assert all((len(tensor.quantization.scales) > 1) == ("per-tensor" not in settings.options) for tensor in filters)
    if "fixed" in settings.options:
        assert all(min(tensor.shape_signature or tensor.shape) > 0 for tensor in inputs)
        assert inputs[0].shape[0] == 1
    if {"fixed", "unfolded"} <= set(settings.options):
        assert "BATCH_MATMUL" not in operators(model)
    if "channels-last" in settings.options:
        assert inputs[0].shape[1:] == (8, 8, 4)


def names_for(route):
    names = [settings.name for settings in settings_for(route)]
    fixed = [option for option in ("fixed", "unfolded") if route.converter.name in OPTIONS[option].known_to]
    return [*names, "+".join(["int8", "dense-per-tensor", *fixed])] if route.converter.name != "litert-torch" else names


@pytest.mark.parametrize("form", ["model.keras", "saved"])
def test_every_setting_of_tensorflow(of_keras, tmp_path, form):
    route = Route(converter("tensorflow"))
    names = names_for(route) if form == "model.keras" else ["float", "float+fixed", "int8+integer-io+fixed", "int8"]
    for name, model in convert_all(of_keras / form, route, names, tmp_path).items():
        assert_as_asked(name, model)


@pytest.mark.parametrize("form", ["model.keras", "model.pt2"])
def test_every_setting_of_the_quantizer(request, folder, tmp_path, form):
    request.getfixturevalue("of_keras" if form == "model.keras" else "of_torch")
    first = converter("tensorflow" if form == "model.keras" else "litert-torch")
    route = Route(first, converter("ai-edge-quantizer"))
    for name, model in convert_all(folder / form, route, names_for(route), tmp_path).items():
        assert_as_asked(name, model)


def test_every_setting_of_litert_torch(of_torch, tmp_path):
    route = Route(converter("litert-torch"))
    for name, model in convert_all(of_torch / "model.pt2", route, names_for(route), tmp_path).items():
        assert_as_asked(name, model)


def test_every_setting_of_onnx2tf(of_torch, tmp_path):
    route = Route(converter("onnx2tf"))
    before = (of_torch / "model.onnx").read_bytes()
    for name, model in convert_all(of_torch / "model.onnx", route, names_for(route), tmp_path).items():
        assert_as_asked(name, model)
    assert (of_torch / "model.onnx").read_bytes() == before


def test_onnx2tf_fixes_an_open_batch(of_torch, tmp_path):
    names = ["float+fixed", "int8+dense-per-tensor+fixed+unfolded"]
    for name, model in convert_all(of_torch / "open.onnx", Route(converter("onnx2tf")), names, tmp_path).items():
        assert_as_asked(name, model)


def test_sizes_are_those_that_are_given(of_keras, tmp_path):
    found = convert_all(of_keras / "model.keras", Route(converter("tensorflow")), ["float+fixed+image=3x8x8x4"], tmp_path)
    [model] = found.values()
    assert model.subgraphs[0].tensors[model.subgraphs[0].inputs[0]].shape == (3, 8, 8, 4)


def test_the_users_data_is_used(of_keras, tmp_path):
    """The range of the input is that of the data."""
    np.savez(tmp_path / "data.npz", image=np.linspace(0, 5, 2 * 8 * 8 * 4, dtype=np.float32).reshape(2, 8, 8, 4))
    route = Route(converter("tensorflow"))
    found = convert_all(of_keras / "model.keras", route, ["int8+integer-io"], tmp_path, str(tmp_path / "data.npz"))
    subgraph = found["int8+integer-io"].subgraphs[0]
    assert subgraph.tensors[subgraph.inputs[0]].quantization.scales[0] == pytest.approx(5 / 255, rel=1e-3)


def test_images_are_read_with_tensorflow(of_keras, tmp_path):
    run(converter("tensorflow").python, DRAW, tmp_path)
    route = Route(converter("tensorflow"))
    found = convert_all(of_keras / "model.keras", route, ["int8+integer-io"], tmp_path, str(tmp_path / "images"))
    subgraph = found["int8+integer-io"].subgraphs[0]
    assert subgraph.tensors[subgraph.inputs[0]].quantization.scales[0] == pytest.approx(0.2 / 255, rel=1e-3)


def test_a_function_gives_the_model(of_keras, tmp_path):
    (tmp_path / "mine.py").write_text(MAKE.format(path=str(of_keras / "model.keras")))
    source = find_source(f"{tmp_path / 'mine.py'}:make")
    [route] = [each for each in routes(source, [converter("tensorflow")]) if each.quantizer is None]
    text = scripts(source, route, parse_settings("float+fixed"))[0].text
    run_all(route.converter.python, [("made", text, "", RESULT)], tmp_path)
    assert_as_asked("float+fixed", load(str(tmp_path / "made" / RESULT)))


def test_the_operators_of_saved_models(of_keras, tmp_path):
    python = converter("tensorflow").python
    run(python, SAVED, tmp_path)
    (tmp_path / "script.py").write_text("print('runs')")
    for folder, printed in [
        (of_keras / "saved", "runs"),
        (tmp_path / "computes", "runs"),
        (tmp_path / "version1", "runs"),
        (tmp_path / "writes", "has the operator WriteFile, which does more than compute"),
        (tmp_path / "reads", "has the operator ReadFile, which does more than compute"),
    ]:
        words = [python, model_code.__file__, "saved_model", str(folder), str(tmp_path / "script.py")]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.stdout.strip(), done.returncode) == (printed, 0 if printed == "runs" else model_code.REFUSED)


def test_a_conversion_in_its_own_process(of_keras, cache, tmp_path):
    """The code that is shown writes the kept model when it is pasted."""
    route = Route(converter("tensorflow"))
    found = convert(find_source(str(of_keras / "model.keras")), route, parse_settings("int8+dense-per-tensor"), cache)
    assert found.failure is None, found.failure
    run(route.converter.python, found.code, tmp_path)
    shown, kept = load(str(tmp_path / RESULT)), load(found.path)
    assert operators(shown) == operators(kept)
    assert scales_of(shown) == scales_of(kept)
    assert Path(found.path).stat().st_size == found.size
