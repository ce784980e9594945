"""A source model with code is refused before a converter loads it, unless the user allows its code."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from types import SimpleNamespace as Space

import pytest

from delegate_sim.conversion.convert import convert
from delegate_sim.conversion.programs import model_code
from delegate_sim.conversion.programs.model_code import REFUSED, ModelCode, is_computation
from delegate_sim.conversion.settings import FLOAT
from delegate_sim.conversion.sources import find_source
from delegate_sim.errors import ModelError
from tests.support.conversion.fake_converters import make_source

DENSE = {"module": "keras.layers", "class_name": "Dense", "config": {"activation": "relu"}, "registered_name": None}
RELU = {"module": "builtins", "class_name": "function", "config": "relu", "registered_name": "function"}
LAMBDA = {"module": "keras.layers", "class_name": "Lambda", "config": {"function": {"class_name": "__lambda__", "config": {}}}}
OLD_LAMBDA = {"class_name": "Lambda", "config": {"function": ["4wEAAAA=", None, None], "function_type": "lambda"}}
OPERATION = {"class_name": "TFOpLambda", "config": {"function": "nn.relu"}}


def sequential(*layers):
    return {"class_name": "Sequential", "config": {"name": "s", "layers": [DENSE, *layers]}}


def keras_file(folder, configuration, name="model.keras"):
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr("config.json", configuration if isinstance(configuration, str) else json.dumps(configuration))
    return str(folder / name)


@pytest.mark.parametrize(
    "configuration",
    [{}, sequential(RELU, OPERATION), sequential({"class_name": "TFOpLambda", "config": {"function": "__operators__.add"}})],
)
def test_a_configuration_without_code(tmp_path, configuration):
    model_code._check_keras(keras_file(tmp_path, configuration))


@pytest.mark.parametrize(
    ("layer", "words"),
    [
        (LAMBDA, "has Lambda, which runs code of the model"),
        (OLD_LAMBDA, "has Lambda, which runs code of the model"),
        ({"class_name": "TimeDistributed", "config": {"layer": OLD_LAMBDA}}, "has Lambda"),
        ({"class_name": "Dense", "config": {"activation": {"class_name": "__lambda__"}}}, "has __lambda__"),
        ({"class_name": "TorchModuleWrapper", "config": {}}, "has TorchModuleWrapper"),
        ({"class_name": "function", "module": "os", "config": "system"}, "uses function of the module os"),
        ({"class_name": "function", "module": "keras.config", "config": "enable_unsafe_deserialization"}, "keras.config"),
        ({"class_name": "function", "module": "keras.utils", "config": "get_file"}, "keras.utils"),
        ({"class_name": "Popen", "module": "subprocess", "config": {}}, "uses Popen of the module subprocess"),
        ({"class_name": "Dense", "module": ["os"], "config": {}}, "uses Dense of the module"),
        ({"class_name": "TFOpLambda", "config": {"function": "io.write_file"}}, "calls io.write_file"),
        ({"class_name": "TFOpLambda", "config": {"function": "keras.models.load_model"}}, "calls keras.models.load_model"),
        ({"class_name": "SlicingOpLambda", "config": None}, "calls None"),
    ],
)
def test_a_configuration_with_code(tmp_path, layer, words):
    with pytest.raises(ModelCode, match=words):
        model_code._check_keras(keras_file(tmp_path, sequential(layer)))


def test_escaped_names_are_read_as_keras_reads_them(tmp_path):
    text = json.dumps(sequential(OLD_LAMBDA)).replace("Lambda", "\\u004cambda")
    with pytest.raises(ModelCode, match="has Lambda"):
        model_code._check_keras(keras_file(tmp_path, text))


def test_a_file_with_two_formats(tmp_path):
    path = keras_file(tmp_path, {})
    content = Path(path).read_bytes()
    Path(path).write_bytes(b"\0" * 1024 + b"\x89HDF\r\n\x1a\n" + content)
    with pytest.raises(ModelCode, match="can be read as a zip archive and as HDF5"):
        model_code._check_keras(path)


@pytest.mark.parametrize("stored", [json.dumps(sequential(LAMBDA)), json.dumps(sequential(LAMBDA)).encode()])
def test_an_hdf5_file(tmp_path, monkeypatch, stored):
    class File:
        attrs: dict

        def __init__(self, path, mode):
            self.attrs = {"model_config": stored}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setitem(sys.modules, "h5py", Space(File=File))
    with pytest.raises(ModelCode, match="has Lambda"):
        model_code._check_keras(str(tmp_path / "model.h5"))


def node(op, *functions):
    call = Space(func=Space(name=""), list=Space(func=[Space(name=name) for name in functions]))
    return Space(op=op, attr={"f": call})


def saved_model(monkeypatch, nodes, functions, concrete=(), is_new=True):
    library = Space(function=[Space(signature=Space(name=name), node_def=inside) for name, inside in functions.items()])
    objects = Space(nodes=[1] if is_new else [], concrete_functions=dict.fromkeys(concrete))
    graph = Space(graph_def=Space(node=nodes, library=library), object_graph_def=objects)
    loader = ModuleType("loader")
    loader.parse_saved_model = lambda path: Space(meta_graphs=[graph])
    for name in ("tensorflow", "tensorflow.python", "tensorflow.python.saved_model"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "tensorflow.python.saved_model.loader_impl", loader)
    model_code._check_saved_model("saved")


SAVER = {"__inference__traced_save_7": [node("ShardedFilename"), node("SaveV2"), node("MergeV2Checkpoints")]}


def test_a_saved_model_may_save_its_variables(monkeypatch):
    functions = {"__inference_call_3": [node("MatMul")], **SAVER}
    saved_model(monkeypatch, [node("PartitionedCall", *functions)], functions, ["__inference_call_3"])


@pytest.mark.parametrize(
    ("nodes", "functions", "concrete", "is_new"),
    [
        ([node("WriteFile")], {}, (), True),
        ([], {"f": [node("PyFunc")]}, (), True),
        ([], {"f": [node("EagerPyFunc")]}, ("f",), True),
        ([node("SaveV2")], {}, (), True),
        ([], {"f": [node("MatMul"), node("PartitionedCall", *SAVER)], **SAVER}, ("f",), True),
        ([], SAVER, tuple(SAVER), True),
        ([], SAVER, (), False),
    ],
    ids=["file", "python", "eager python", "main graph", "called", "a function of an object", "old format"],
)
def test_a_saved_model_with_effects(monkeypatch, nodes, functions, concrete, is_new):
    with pytest.raises(ModelCode, match="which does more than compute"):
        saved_model(monkeypatch, nodes, functions, concrete, is_new)


SIZE = "Add(FloorDiv(Symbol('s77', positive=True, integer=True), Integer(2)), Integer(1))"
PROGRAM = {"graph_module": {"graph": {"nodes": [{"target": "torch.ops.aten.relu.default", "inputs": []}]}}, "guards_code": []}


def torch_file(folder, members):
    path = folder / "model.pt2"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(name, content if isinstance(content, (str, bytes)) else json.dumps(content))
    return str(path)


def test_a_torch_program_without_code(tmp_path, monkeypatch):
    monkeypatch.delenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", raising=False)
    sizes = [{"expr_str": SIZE, "hint": None}, {"expr_str": "Max(1, s0 // 2)"}]
    program = {**PROGRAM, "sizes": sizes, "guards_code": ["L['x'].size()[0] >= 2"]}
    model_code._check_torch_export(torch_file(tmp_path, [("model/models/model.json", program), ("model/data/weights/w", b"\0")]))
    assert model_code.os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] == "1"


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([("m/models/model.json", {**PROGRAM, "s": {"expr_str": "__import__('os').system('x')"}})], "has the expression"),
        ([("m/models/model!code", {**PROGRAM, "s": {"expr_str": "__import__('os').system('x')"}})], "has the expression"),
        ([("serialized_exported_program.json", {"guards_code": ["exit()"]})], "has the expression 'exit\\(\\)'"),
        ([("m/models/model.json", {"node": {"target": "torch.hub.load", "inputs": []}})], "calls torch.hub.load"),
        ([("m/models/model.json", {"node": {"target": "torch.ops.aten.from_file.default", "inputs": []}})], "from_file"),
        ([("m/data/aotinductor/model/a.so", b"")], "which is code or a pickled object"),
        ([("m/data/constants/opaque_obj_0", b"")], "which is code or a pickled object"),
        ([("m/models/a.json", {}), ("m/models/A.json", {})], "two files of the same name"),
    ],
)
def test_a_torch_program_with_code(tmp_path, members, words):
    with pytest.raises(ModelCode, match=words):
        model_code._check_torch_export(torch_file(tmp_path, members))


@pytest.mark.parametrize(
    "text",
    [
        "().__class__",
        "Symbol('a.b()')",
        "Eq('exec(1)', 1)",
        "(lambda: 1)()",
        "[x for x in y]",
        "f'{x}'",
        "Max(*x)",
        "open('x')",
        "__import__",
        "x\n",
        "1 # 2",
        "(",
        "(" * 10_000,
        None,
        5,
    ],
)
def test_an_expression_that_does_more_than_compute(text):
    assert not is_computation(text, of_inputs=False)


@pytest.mark.parametrize("text", ["L['x'].__class__", "L['x'].size().tofile('a')", "open('x')"])
def test_a_condition_that_does_more_than_compute(text):
    assert not is_computation(text, of_inputs=True)


def run_check(kind, path, script):
    return subprocess.run([sys.executable, model_code.__file__, kind, path, script], capture_output=True, text=True, check=False)


def test_the_script_runs_only_after_the_check(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint(__name__, len(sys.argv))\n")
    assert run_check("keras", keras_file(tmp_path, {}), str(script)).stdout == "__main__ 1\n"
    refused = run_check("keras", keras_file(tmp_path, sequential(LAMBDA)), str(script))
    assert (refused.returncode, refused.stdout.strip()) == (REFUSED, "has Lambda, which runs code of the model")


@pytest.mark.parametrize("text", ["[" * 100_000, "not JSON"], ids=["deep", "no json"])
def test_a_file_that_cannot_be_checked_is_refused(tmp_path, text):
    refused = run_check("keras", keras_file(tmp_path, text), "script.py")
    assert refused.returncode == REFUSED
    assert refused.stdout.strip().startswith("cannot be checked for code (")
    assert refused.stderr == ""


def test_a_pickle_that_the_converter_refuses(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import pickle\nraise pickle.UnpicklingError('Weights only load failed')\n")
    refused = run_check("torch_export", torch_file(tmp_path, [("m/models/model.json", PROGRAM)]), str(script))
    assert refused.returncode == REFUSED
    assert refused.stdout.strip() == "has a pickled object, which may run code of the model"


class TestConsent:
    @pytest.fixture
    def path(self, tmp_path):
        path = make_source(tmp_path, "good")
        keras_file(tmp_path, sequential(LAMBDA), "good.keras")
        return path

    def test_without_consent_nothing_is_loaded(self, path, fake_route, cache, monkeypatch, tmp_path):
        monkeypatch.setenv("FAKE_NOTE", str(tmp_path / "note"))
        with pytest.raises(ModelError) as caught:
            convert(find_source(path), fake_route, FLOAT, cache)
        assert str(caught.value) == (
            f"{path}: has Lambda, which runs code of the model; if you trust the model, allow its code with "
            "`sweep --run-model-code`, with run_model_code=True in Python, or with DELEGATE_SIM_RUN_MODEL_CODE=1"
        )
        assert not (tmp_path / "note").exists()

    def test_the_user_allows_the_code(self, path, fake_route, cache):
        found = convert(find_source(path, run_model_code=True), fake_route, FLOAT, cache)
        assert found.failure is None
        assert "safe_mode=False" in found.code

    def test_a_variable_allows_the_code(self, path, fake_route, cache, monkeypatch):
        monkeypatch.setenv("DELEGATE_SIM_RUN_MODEL_CODE", "1")
        assert convert(find_source(path), fake_route, FLOAT, cache).failure is None
        monkeypatch.setenv("DELEGATE_SIM_RUN_MODEL_CODE", "0")
        with pytest.raises(ModelError, match="has Lambda"):
            convert(find_source(path), fake_route, FLOAT, cache)
