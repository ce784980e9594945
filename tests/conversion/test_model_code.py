"""A source model with code is refused before a converter loads it, unless the user allows its code."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType
from types import SimpleNamespace as Space

import pytest

from delegate_sim.conversion import model_code
from delegate_sim.conversion.convert import convert
from delegate_sim.conversion.model_code import REFUSED, ModelCode, is_computation
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
    [
        {},
        sequential(RELU, OPERATION),
        sequential({"class_name": "TFOpLambda", "config": {"function": "__operators__.add"}}),
        sequential({"class_name": "StringLookup", "config": {"vocabulary": ["a"]}}),
    ],
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
        ({"class_name": "X", "registered_name": "TorchModuleWrapper", "module": "keras.layers"}, "has TorchModuleWrapper"),
        ({"class_name": "X", "registered_name": "Custom>Lambda"}, "has Lambda"),
        ({"class_name": None, "registered_name": "TFSMLayer", "module": "keras.layers"}, "has TFSMLayer"),
        ({"class_name": "X", "registered_name": "TFOpLambda", "config": {"function": "io.write_file"}}, "calls io.write_file"),
        ({"class_name": "TensorFlowOpLayer", "config": {"node_def": {"op": "WriteFile"}}}, "has TensorFlowOpLayer"),
        ({"class_name": "StringLookup", "config": {"vocabulary": "/etc/passwd"}}, "has a vocabulary in another file"),
        ({"class_name": "TextVectorization", "config": {"vocabulary": "gs://bucket/words"}}, "has a vocabulary in another file"),
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
    class File(list):
        id = 0

        def __init__(self, path, mode):
            self.attrs = {"model_config": stored}

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setitem(sys.modules, "h5py", Space(File=File))
    with pytest.raises(ModelCode, match="has Lambda"):
        model_code._check_keras(str(tmp_path / "model.h5"))


def store(h5py, file, kind):
    weights = file.create_group("model_weights")
    weights["kernel"] = [1.0]
    weights["again"] = weights  # a loop
    weights["soft"] = h5py.SoftLink("/model_weights/kernel")
    if kind == "link":
        weights["bias"] = h5py.ExternalLink("/home/me/other.h5", "/secret")
    elif kind == "storage":
        weights.create_dataset("bias", (4,), "u1", external=[("/etc/passwd", 0, 4)])
    elif kind == "virtual":
        layout = h5py.VirtualLayout((4,), "u1")
        layout[:] = h5py.VirtualSource("/home/me/other.h5", "/secret", (4,))
        weights.create_virtual_dataset("bias", layout)


@pytest.mark.parametrize("name", ["model.h5", "model.keras"])
@pytest.mark.parametrize("kind", ["own", "link", "storage", "virtual"])
def test_weights_in_another_file(tmp_path, kind, name):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "model.h5", "w") as file:
        file.attrs["model_config"] = json.dumps(sequential())
        store(h5py, file, kind)
    if name == "model.keras":
        keras_file(tmp_path, sequential())
        with zipfile.ZipFile(tmp_path / name, "a") as archive:
            archive.write(tmp_path / "model.h5", "model.weights.h5")
    if kind == "own":
        model_code._check_keras(str(tmp_path / name))
    else:
        with pytest.raises(ModelCode, match="has 'bias' in another file, which is read with the model"):
            model_code._check_keras(str(tmp_path / name))


COMPUTING = """
    AddV2 BatchMatMulV2 Cast Const Conv2D Einsum FakeQuantWithMinMaxVars FusedBatchNormV3 GatherV2 Identity LookupTableFind MatMul
    NoOp PartitionedCall Placeholder Relu ResizeBilinear ShardedFilename StatelessIf StatelessRandomUniformV2 StatelessWhile
    StringJoin TensorListReserve TensorListStack
"""
KEEPING = """
    AnonymousMutableHashTable Assert AssignAddVariableOp AssignVariableOp Case CheckNumerics DestroyResourceOp DisableCopyOnRead
    HashTableV2 If InitializeTableV2 LookupTableFindV2 LookupTableImportV2 LookupTableInsertV2 MutableDenseHashTableV2
    MutableHashTableOfTensorsV2 MutableHashTableV2 RandomShuffle RandomStandardNormal RandomUniform ReadVariableOp
    ResourceApplyAdam ResourceGather ResourceScatterAdd RngReadAndSkip StackPushV2 StatefulPartitionedCall
    StatefulStandardNormalV2 TensorArrayV3 TensorArrayWriteV3 VarHandleOp VarIsInitializedOp VariableV2 While
"""
STATELESS_EFFECTS = """
    Abort AssertNextDataset AudioSummaryV2 CacheDataset CopyHost DatasetToGraphV2 DebugIdentity DecodeProtoV2 EncodeProto
    ExperimentalAssertNextDataset GenerateVocabRemapping ImmutableConst InitializeTableFromTextFile MatchingFiles
    MlirPassthroughOp PyFuncStateless ReadFile ReaderRead RegisterDatasetV2 SnapshotDatasetReader SnapshotDatasetV2
    WrapDatasetVariant XlaCustomCallV2
"""
STATEFUL_EFFECTS = """
    CSVDatasetV2 CacheDatasetV2 CalibrationStatisticsSaver CollectiveBcastSendV2 DataServiceDatasetV4 DatasetToTFRecord
    DebugIdentityV3 DistributedSave DumpTensor EagerPyFunc ExperimentalDatasetToTFRecord ExperimentalLMDBDataset
    FileSystemSetConfiguration FixedLengthRecordDatasetV2 FixedUnigramCandidateSampler InitializeTableFromTextFileV2
    IteratorGetNext LMDBDataset LMDBReader LoadAndRemapMatrix LoadDataset MatchingFilesDataset OneShotIterator PrintV2 PyFunc
    RandomDatasetV2 ReaderReadV2 RecordInput RemoteCall Restore RestoreSlice RpcCall Save SaveDatasetV2 SaveSlices Send
    SqlDataset SummaryWriter TFRecordDatasetV2 TFRecordReaderV2 TextLineDataset WholeFileReaderV2 WorkerHeartbeat WriteFile
    WriteSummary XlaCallModule XlaHostCompute XlaRecv
"""
FILES = ("SaveV2", "MergeV2Checkpoints", "RestoreV2")
STATEFUL = dict.fromkeys([*COMPUTING.split(), *STATELESS_EFFECTS.split()], False) | dict.fromkeys(
    [*KEEPING.split(), *STATEFUL_EFFECTS.split(), *FILES], True
)
"""Operators of TensorFlow, and whether its registry calls them stateful."""


def node(op, *functions, name="", inputs=()):
    call = Space(func=function(""), list=Space(func=list(map(function, functions))))
    return Space(op=op, attr={"f": call}, name=name or op, input=list(inputs))


def function(name, **attributes):
    return Space(name=name, attr=attributes)


def saved_model(monkeypatch, nodes, functions=(), concrete=(), is_new=True, path="saved", **options):
    """Check a SavedModel, with TensorFlow's reader and registry replaced."""
    attributes = options.get("attributes", ())
    library = Space(
        function=[
            Space(signature=Space(name=name), node_def=inside, attr=attributes) for name, inside in dict(functions).items()
        ],
        gradient=[Space(gradient_func=name) for name in options.get("gradients", ())],
    )
    names = {f"{part}_tensor_name": "" for part in ("values", "indices", "dense_shape")}
    outputs = {
        name: Space(name=name, coo_sparse=Space(**names), composite_tensor=Space(components=()))
        for name in options.get("results", ())
    }
    graph = Space(
        graph_def=Space(node=nodes, library=library),
        object_graph_def=Space(nodes=[1] if is_new else [], concrete_functions=dict.fromkeys(concrete)),
        collection_def={"saved_model_main_op": Space(node_list=Space(value=options.get("init", ())))},
        signature_def={"serving_default": Space(outputs=outputs)},
        saver_def=Space(restore_op_name=options.get("restore", "")),
    )
    modules = {
        "tensorflow.python.framework": {"op_def_registry": Space(get=operator_of)},
        "tensorflow.python.saved_model.loader_impl": {"parse_saved_model": lambda path: Space(meta_graphs=[graph])},
    }
    for name in ("tensorflow", "tensorflow.python", "tensorflow.python.saved_model", *modules):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
        vars(sys.modules[name]).update(modules.get(name, {}))
    model_code._check_saved_model(path)


def operator_of(name):
    return Space(is_stateful=STATEFUL[name]) if name in STATEFUL else None


SAVER = {"__inference__traced_save_7": [node("ShardedFilename"), node("SaveV2"), node("MergeV2Checkpoints")]}
RESTORER = {"__inference__traced_restore_8": [node("RestoreV2"), node("AssignVariableOp")]}
CALL = {"__inference_call_3": [node("MatMul")]}
MAIN = [
    node("Placeholder", name="saver_filename"),
    node("StatefulPartitionedCall", *CALL, name="call"),
    node("StatefulPartitionedCall", *SAVER, name="save", inputs=["saver_filename"]),
    node("StatefulPartitionedCall", *RESTORER, name="restore", inputs=["saver_filename"]),
    node("NoOp", name="nothing", inputs=["^call"]),
]
OLD = [
    node("Const", name="save/Const"),
    node("SaveV2", name="save/SaveV2", inputs=["save/Const"]),
    node("Identity", name="save/Identity", inputs=["save/Const", "^save/SaveV2"]),
    node("RestoreV2", name="save/RestoreV2", inputs=["save/Const"]),
    node("NoOp", name="save/restore_all", inputs=["^save/RestoreV2"]),
    node("MatMul", name="MatMul"),
]


def test_a_saved_model_may_store_and_read_its_variables(monkeypatch):
    functions = {**CALL, **SAVER, **RESTORER}
    saved_model(monkeypatch, MAIN, functions, CALL, init=["nothing"], results=["call:0", ""], restore="restore")
    saved_model(monkeypatch, OLD, is_new=False, results=["MatMul:0"], restore="save/restore_all")


@pytest.mark.parametrize("names", [COMPUTING, KEEPING], ids=["computing", "keeping"])
def test_operators_that_only_compute(monkeypatch, names):
    nodes = list(map(node, names.split()))
    saved_model(monkeypatch, nodes, {"f": nodes}, ["f"])


@pytest.mark.parametrize("op", [*STATELESS_EFFECTS.split(), *STATEFUL_EFFECTS.split()])
def test_operators_that_do_more_than_compute(monkeypatch, op):
    for nodes, functions in (([node(op)], {}), ([], {"f": [node(op)]})):
        with pytest.raises(ModelCode, match=f"has the operator {op}, which does more than compute"):
            saved_model(monkeypatch, nodes, functions)


def test_an_operator_of_a_library(monkeypatch):
    with pytest.raises(ModelCode, match="has the operator Own, which TensorFlow does not have"):
        saved_model(monkeypatch, [node("Own")])


@pytest.mark.parametrize("operators", [SAVER, RESTORER], ids=["save", "restore"])
@pytest.mark.parametrize("way", ["called", "concrete", "gradients", "api_implements", "old format"])
def test_functions_that_use_files_and_can_be_called(monkeypatch, operators, way):
    [name] = operators
    functions = {**operators, "f": [node("PartitionedCall", name)]} if way == "called" else operators
    options = {
        "called": {"concrete": ["f"]},
        "concrete": {"concrete": [name]},
        "gradients": {"gradients": [name]},
        "api_implements": {"attributes": ["api_implements"]},
        "old format": {"is_new": False},
    }
    with pytest.raises(ModelCode, match=r"has the operator (SaveV2|RestoreV2), which does more than compute"):
        saved_model(monkeypatch, [], functions, **options[way])


def test_a_function_in_an_attribute_of_a_function(monkeypatch):
    [name] = SAVER
    inner = Space(func=function(name), list=Space(func=[]))
    outer = Space(func=function("g", f=inner), list=Space(func=[]))
    calling = Space(op="PartitionedCall", attr={"f": outer}, name="call", input=[])
    with pytest.raises(ModelCode, match="has the operator SaveV2"):
        saved_model(monkeypatch, [], {**SAVER, "f": [calling]})


@pytest.mark.parametrize(
    ("nodes", "functions", "options", "operator"),
    [
        (MAIN, SAVER, {"restore": "save"}, "MergeV2Checkpoints"),
        (MAIN, SAVER, {"init": ["save"]}, "MergeV2Checkpoints"),
        (MAIN, SAVER, {"results": ["save:1"]}, "MergeV2Checkpoints"),
        ([*MAIN, node("NoOp", inputs=["^save"], name="late")], SAVER, {"init": ["late"]}, "MergeV2Checkpoints"),
        (MAIN, RESTORER, {"init": ["restore"]}, "RestoreV2"),
        (MAIN, RESTORER, {"results": ["restore:0"]}, "RestoreV2"),
        (OLD, {}, {"restore": "save/Identity"}, "MergeV2Checkpoints"),
        (OLD, {}, {"results": ["save/RestoreV2:0"]}, "RestoreV2"),
    ],
)
def test_variables_that_are_stored_or_read_when_the_model_is_read(monkeypatch, nodes, functions, options, operator):
    with pytest.raises(ModelCode, match=f"runs {operator} when it is read"):
        saved_model(monkeypatch, nodes, functions, **options)


def test_several_files_with_a_graph(monkeypatch, tmp_path):
    (tmp_path / "saved_model.pb").touch()
    saved_model(monkeypatch, [], path=str(tmp_path))
    (tmp_path / "saved_model.cpb").touch()
    with pytest.raises(ModelCode, match="has several files with a graph"):
        saved_model(monkeypatch, [], path=str(tmp_path))


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
    assert (refused.returncode, "Lambda" in refused.stdout) == (REFUSED, True)


@pytest.mark.parametrize("text", ["[" * 100_000, "not JSON"], ids=["deep", "no json"])
def test_a_file_that_cannot_be_checked_is_refused(tmp_path, text):
    refused = run_check("keras", keras_file(tmp_path, text), "script.py")
    assert (refused.returncode, "checked" in refused.stdout) == (REFUSED, True)
    assert refused.stderr == ""


def test_a_pickle_that_the_converter_refuses(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import pickle\nraise pickle.UnpicklingError('Weights only load failed')\n")
    refused = run_check("torch_export", torch_file(tmp_path, [("m/models/model.json", PROGRAM)]), str(script))
    assert (refused.returncode, "pickled" in refused.stdout) == (REFUSED, True)


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
