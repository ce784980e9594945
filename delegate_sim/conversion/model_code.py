"""Refuse a source model that has code, and otherwise run a script: ``python model_code.py KIND PATH SCRIPT``.

The script loads the model with a converter. Formats of models can contain Python code, names of functions to call, pickled
objects, or operators that write files. This program reads the model without loading it, and ends with the status ``REFUSED`` and
a line on standard output if the model has any of these. The lists below name what is known to be harmless. Everything else is
refused.

This file runs in the converter's Python, in the process of the script, and needs only the standard library. It uses TensorFlow
and h5py only to read the formats of TensorFlow.
"""

from __future__ import annotations

import ast
import io
import json
import os
import pickle
import re
import runpy
import sys
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NoReturn

REFUSED = 77
"""The exit status for a model that is refused."""
_HDF5 = b"\x89HDF\r\n\x1a\n"


class ModelCode(Exception):
    """Raised for a model that has code. The message names the code."""


def main(kind: str, path: str, script: str) -> None:
    """Check a model, and run a script in this process. Exit with ``REFUSED`` if the model has code, or cannot be checked."""
    try:
        _CHECKS[kind](path)
    except ModelCode as code:
        _refuse(str(code))
    except Exception as error:  # a reader of a damaged file may raise anything
        _refuse(f"cannot be checked for code ({type(error).__name__}: {error})")
    sys.argv[:] = [script]
    try:
        runpy.run_path(script, run_name="__main__")
    except pickle.UnpicklingError:
        if kind == "torch_export":
            _refuse("has a pickled object, which may run code of the model")
        raise


def _refuse(reason: str) -> NoReturn:
    print("\n" + " ".join(reason.split()), flush=True)
    sys.exit(REFUSED)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            yield item
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item


_CLASSES = re.compile(
    r"(tf_)?keras(\.src)?(\.(layers|models|engine|initializers|regularizers|constraints|optimizers|losses|metrics|activations"
    r"|dtype_policies|mixed_precision|quantizers|ops|random)(\.\w+)*)?"
)
"""Modules whose classes may be in a configuration of Keras."""
_FUNCTIONS = re.compile(
    r"builtins|(tf_)?keras(\.src)?\.(activations|initializers|losses|metrics|regularizers|constraints|ops)(\.\w+)*"
)
"""Modules whose functions may be named, for example as an activation."""
_CODE_CLASSES = frozenset(
    {"Lambda", "__lambda__", "TFSMLayer", "TorchModuleWrapper", "JaxLayer", "FlaxLayer", "ClassMethod", "TensorFlowOpLayer"}
)
"""Classes whose configuration has Python code, pickled objects, any operator of TensorFlow, or names of functions or files."""
_SYMBOL_CLASSES = frozenset({"TFOpLambda", "SlicingOpLambda"})
"""Classes whose configuration names a function of TensorFlow, which is called."""
_SYMBOLS = re.compile(
    r"(math|nn|linalg|signal|__operators__|bitwise|random|image)\.\w+|keras\.(activations|ops)\.\w+|keras\.backend\.\w*(?<!function)"
    r"|(abs|add|argmax|argmin|argsort|batch_to_space|boolean_mask|broadcast_to|cast|clip_by_\w+|concat|convert_to_tensor|cumsum"
    r"|divide|einsum|equal|exp|expand_dims|eye|fill|floor|gather|gather_nd|greater\w*|identity|less\w*|linspace|logical_\w+|matmul"
    r"|maximum|meshgrid|minimum|multiply|negative|norm|not_equal|one_hot|ones|ones_like|pad|pow|range|rank|realdiv|reduce_\w+"
    r"|repeat|reshape|reverse|roll|round|scatter_nd|sequence_mask|shape|sigmoid|sign|size|slice|sort|space_to_\w+|split|sqrt|square"
    r"|squeeze|stack|stop_gradient|strided_slice|subtract|tanh|tensordot|tensor_scatter_nd_\w+|tile|transpose|truediv|unique|unstack"
    r"|where|zeros|zeros_like|sin|cos|tan|atan2)"
)
"""Functions of TensorFlow that only compute."""


def _check_keras(path: str) -> None:
    text = _keras_configuration(path)
    for item in _objects(json.loads(text)):
        name, module = item.get("class_name"), item.get("module")
        if isinstance(item.get("vocabulary"), str):  # a list of words reads no file
            raise ModelCode("has a vocabulary in another file, which is read with the model")
        # Keras looks for the registered name where it does not find the name of the class.
        given = [own for own in (name, item.get("registered_name")) if isinstance(own, str)]
        if not given:
            continue
        names = {part for own in given for part in (own, own.rpartition(">")[2])}
        for code in sorted(names & _CODE_CLASSES):
            raise ModelCode(f"has {code}, which runs code of the model")
        if names & _SYMBOL_CLASSES:
            symbol = (item.get("config") or {}).get("function")
            if not isinstance(symbol, str) or not _SYMBOLS.fullmatch(symbol):
                raise ModelCode(f"calls {symbol}, which may do more than compute")
        known = _FUNCTIONS if name == "function" else _CLASSES
        if module not in (None, "builtins") and not (isinstance(module, str) and known.fullmatch(module)):
            raise ModelCode(f"uses {name} of the module {module}")


def _keras_configuration(path: str) -> str | bytes:
    """Return the stored configuration. Raise ModelCode if a file could be read in two formats, or has weights in other files."""
    if not path.lower().endswith(".keras"):
        return _checked_hdf5(path)
    with open(path, "rb") as file:
        if _is_hdf5(file, os.path.getsize(path)):
            raise ModelCode("can be read as a zip archive and as HDF5")
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            content = io.BytesIO(archive.read(member))
            if _is_hdf5(content, member.file_size):
                _checked_hdf5(content)
        return archive.read("config.json")


def _is_hdf5(file: BinaryIO, size: int) -> bool:
    place = 0
    while place < size:  # where HDF5 looks for its signature
        file.seek(place)
        if file.read(len(_HDF5)) == _HDF5:
            return True
        place = max(512, place * 2)
    return False


def _checked_hdf5(file: str | BinaryIO) -> str | bytes:
    """Return the configuration in an HDF5 file. Raise ModelCode if the data of the file is in other files."""
    import h5py

    with h5py.File(file, "r") as root:
        waiting, known = [root], {root.id}
        while waiting:
            group = waiting.pop()
            for name in group:
                kind = group.get(name, getclass=True, getlink=True)
                if kind is h5py.SoftLink:  # names an object of this file, which has another link of its own
                    continue
                item = group[name] if kind is h5py.HardLink else None
                if item is None or (isinstance(item, h5py.Dataset) and (item.external or item.is_virtual)):
                    raise ModelCode(f"has {name[:200]!r} in another file, which is read with the model")
                if isinstance(item, h5py.Group) and item.id not in known:
                    known.add(item.id)
                    waiting.append(item)
        return root.attrs.get("model_config", "{}")  # type: ignore[no-any-return]


_STATEFUL = re.compile(
    r"((Read|Assign|AssignAdd|AssignSub)Variable|VarHandle|VarIsInitialized|DestroyResource)Op|Variable(V2|Shape)?|TemporaryVariable"
    r"|DisableCopyOnRead|Resource(Gather(Nd)?|Scatter\w+|(Sparse)?Apply\w+|StridedSliceAssign|CountUpTo)"
    r"|(Anonymous)?(Mutable|MutableDense)?HashTable(OfTensors)?(V2)?|LookupTable\w+|InitializeTableV2|TensorArray\w*|Stack\w*"
    r"|StatefulPartitionedCall|If|While|Case|Assert|CheckNumerics(V2)?|Print|Empty|GuaranteeConst|CudnnRNN(V2|V3)?"
    r"|Random(Crop|Gamma|Poisson(V2)?|Shuffle|StandardNormal|Uniform(Int)?)|(Parameterized)?TruncatedNormal|Multinomial|Rng\w+"
    r"|Stateful(Random|Standard|Truncated|Uniform)\w+|StatelessRandomGetAlg|NonDeterministicInts|SampleDistortedBoundingBox(V2)?"
    r"|(All|LearnedUnigram|LogUniform|ThreadUnsafeUnigram|Uniform)CandidateSampler"
)
"""Operators of TensorFlow that keep a state in memory, and otherwise only compute."""
_EFFECTS = re.compile(
    r".*(Dataset|Summary)|(Reader|Debug)\w"
    r"|(PyFuncStateless|ReadFile|MatchingFiles|ImmutableConst|InitializeTableFromTextFile|GenerateVocabRemapping|Copy|CopyHost"
    r"|DecodeProtoV2|EncodeProto|Abort|XlaCustomCall(V2)?|MlirPassthroughOp)$"
)
"""Matches operators without a state that call other code, use files, open connections, or end the process."""
_SAVING, _RESTORING = frozenset({"SaveV2", "MergeV2Checkpoints"}), frozenset({"RestoreV2"})
"""Operators with which a SavedModel stores and reads its own variables."""


def _check_saved_model(path: str) -> None:
    from tensorflow.python.saved_model.loader_impl import parse_saved_model

    if sum(os.path.lexists(os.path.join(path, f"saved_model.{suffix}")) for suffix in ("pb", "pbtxt", "cpb")) > 1:
        raise ModelCode("has several files with a graph")  # TensorFlow's readers may read different ones
    for graph in parse_saved_model(path).meta_graphs:
        functions = {function.signature.name: function.node_def for function in graph.graph_def.library.function}
        from_functions = _called_functions(graph, functions)
        for nodes, is_callable in [
            (graph.graph_def.node, False),
            *[(nodes, name in from_functions) for name, nodes in functions.items()],
        ]:
            for node in nodes:
                if is_callable or node.op not in _SAVING | _RESTORING:
                    _check_operator(node.op)
        run_when_read = {name for collection in graph.collection_def.values() for name in collection.node_list.value}
        run_when_read |= {name for signature in graph.signature_def.values() for name in _results_of(signature)}
        for operators, run in ((_SAVING, run_when_read | {graph.saver_def.restore_op_name}), (_RESTORING, run_when_read)):
            using = {name for name, nodes in functions.items() if any(node.op in operators for node in nodes)}
            if not _dependents(graph.graph_def.node, operators, using).isdisjoint(map(_node_of, run)):
                raise ModelCode(f"runs {min(operators)} when it is read, which does more than compute")


def _check_operator(name: str) -> None:
    from tensorflow.python.framework import op_def_registry

    operator = op_def_registry.get(name)
    if operator is None:
        raise ModelCode(f"has the operator {name[:200]}, which TensorFlow does not have")
    if not _STATEFUL.fullmatch(name) if operator.is_stateful else _EFFECTS.match(name):
        raise ModelCode(f"has the operator {name}, which does more than compute")


def _called_functions(graph: Any, functions: dict[str, Any]) -> set[str]:
    """Return the names of functions that other functions or objects call. The main graph alone may call functions with files."""
    if not graph.object_graph_def.nodes:
        return set(functions)
    library = graph.graph_def.library
    called = {*graph.object_graph_def.concrete_functions, *[gradient.gradient_func for gradient in library.gradient]}
    called |= {function.signature.name for function in library.function if "api_implements" in function.attr}
    return called | {name for nodes in functions.values() for node in nodes for name in _functions_of(node)}


def _functions_of(node: Any) -> Iterator[str]:
    waiting = list(node.attr.values())
    while waiting:
        attribute = waiting.pop()
        for function in (attribute.func, *attribute.list.func):
            yield function.name
            waiting += function.attr.values()


def _results_of(signature: Any) -> Iterator[str]:
    for result in signature.outputs.values():
        for tensor in (result, *result.composite_tensor.components):
            sparse = tensor.coo_sparse
            yield from (tensor.name, sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name)


def _node_of(name: str) -> str:
    return name.removeprefix("^").split(":")[0]


def _dependents(nodes: Any, operators: frozenset[str], functions: set[str]) -> set[str]:
    followers: dict[str, list[str]] = {}
    for node in nodes:
        for name in node.input:
            followers.setdefault(_node_of(name), []).append(node.name)
    waiting = [node.name for node in nodes if node.op in operators or not functions.isdisjoint(_functions_of(node))]
    names = set()
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += followers.get(name, ())
    return names


_OPERATORS = re.compile(
    r"torch\.ops\.(aten|prims|higher_order|quantized_decomposed|torchao|torchvision)\.(?!from_file)\w+(\.\w+)?"
    r"|torch\.(ops\.)?_?sym_\w+|(_operator|math)\.\w+"
)
"""Operators that only compute."""
_CALLS = frozenset(
    {"Abs", "Add", "And", "CeilDiv", "CeilToInt", "CleanDiv", "Eq", "Equality", "Float", "FloatPow", "FloatTrueDiv", "FloorDiv"}
    | {"FloorToInt", "Ge", "GreaterThan", "Gt", "ITE", "Identity", "IntTrueDiv", "Integer", "IsNonOverlappingAndDenseIndicator"}
    | {"LShift", "Le", "LessThan", "Lt", "Max", "Min", "Mod", "ModularIndexing", "Mul", "Ne", "Not", "Or", "Piecewise", "Pow"}
    | {"PowByNatural", "PythonMod", "RShift", "Rational", "RoundDecimal", "RoundToInt", "StrictGreaterThan", "StrictLessThan"}
    | {"Symbol", "ToFloat", "TruncToFloat", "TruncToInt", "Unequality", "Where", "abs", "ceiling", "dim", "floor", "max", "min"}
    | {"numel", "size", "sqrt", "storage_offset", "stride"}
)
"""Functions that a symbolic size, or a condition on sizes, may call."""
_SYNTAX = (
    ast.Expression, ast.keyword, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Name, ast.Constant, ast.Tuple,
    ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z]\w*|-?[0-9.]+(?:e[+-]?[0-9]+)?")
_CODE_FILES = re.compile(r"(.*/)?data/constants/(custom_obj|opaque_obj)_|(.*/)?data/aotinductor/", re.IGNORECASE)


def _check_torch_export(path: str) -> None:
    os.environ.pop("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", None)
    os.environ["TORCH_FORCE_WEIGHTS_ONLY_LOAD"] = "1"  # torch.load then refuses pickled objects, wherever it is called
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len({name.lower() for name in names}) != len(names):
            raise ModelCode("has two files of the same name")
        for name in names:
            if _CODE_FILES.match(name):
                raise ModelCode(f"has {name}, which is code or a pickled object")
            if name.lower().endswith(".json") or "models/" in name.lower():
                _check_torch_program(json.loads(archive.read(name)))


def _check_torch_program(program: Any) -> None:
    for item in _objects(program):
        size, guards = item.get("expr_str", "0"), item.get("guards_code") or ()
        for text in (size, *guards):
            if not is_computation(text, of_inputs=text is not size):
                raise ModelCode(f"has the expression {str(text)[:200]!r}, which may do more than compute")
        target = item.get("target")
        if isinstance(target, str) and "inputs" in item and not _OPERATORS.fullmatch(target):
            raise ModelCode(f"calls {target[:200]}, which may do more than compute")


def is_computation(text: Any, *, of_inputs: bool) -> bool:
    """Return whether a text is a Python expression that only computes with numbers, names and a few functions.

    With ``of_inputs``, the expression may also have inputs, such as ``L['x'].size()[0]``, and any string. Otherwise, a string is
    the name of a symbol or a number, because SymPy would run other strings as code.
    """
    if not isinstance(text, str) or not text.isprintable() or "#" in text:
        return False
    try:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(_is_computing(node, of_inputs) for node in nodes)


def _is_computing(node: ast.AST, of_inputs: bool) -> bool:
    if not isinstance(node, _SYNTAX):
        return of_inputs and isinstance(node, (ast.Attribute, ast.Subscript)) and not getattr(node, "attr", "").startswith("_")
    if isinstance(node, ast.Constant):
        return of_inputs or not isinstance(node.value, (str, bytes)) or _NAME.fullmatch(str(node.value)) is not None
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        return name in _CALLS and all(keyword.arg is not None for keyword in node.keywords)
    return not (isinstance(node, ast.Name) and node.id.startswith("__"))


_CHECKS: dict[str, Callable[[str], None]] = {
    "keras": _check_keras,
    "saved_model": _check_saved_model,
    "torch_export": _check_torch_export,
}
"""The check of each kind of source model that may have code. Other kinds have no code, or are code that the user names."""


if __name__ == "__main__":
    main(*sys.argv[1:4])
