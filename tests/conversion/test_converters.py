import sys
from pathlib import Path

import pytest

from delegate_sim.conversion.converters import Converter, Route, find_converters, routes
from delegate_sim.conversion.sources import SourceKind, SourceModel
from delegate_sim.errors import OptionError
from tests.support.conversion.fake_converters import make_environment_of

NAMES = ("tensorflow", "onnx2tf", "litert-torch", "litert-quantizer")
ALL = tuple([Converter(name, "1", "/p") for name in (*NAMES, "keras")])


def source(kind, *packages):
    return SourceModel(kind, "/m", "0", "m", packages=frozenset(packages))


def test_converters_are_found_without_importing_them(fake_python, fake_converter):
    assert (fake_converter.version, fake_converter.python) == ("9.9.1", fake_python)
    assert fake_converter.companions[0][0] == "python"


def test_a_folder_stands_for_its_interpreter(fake_python, fake_converter):
    assert fake_converter in find_converters([str(Path(fake_python).parents[1])])


def test_missing_converters_say_what_to_install(fake_python):
    found = find_converters([fake_python])
    assert [each.name for each in found] == list(NAMES)
    assert {each.name: each.install for each in found if each.is_missing} == {
        "onnx2tf": "pip install '.[sweep-onnx]'",
        "litert-torch": "pip install '.[sweep-torch]'",
        "litert-quantizer": "pip install '.[sweep-quantizer]'",
    }


def test_several_interpreters_are_asked_and_each_once(fake_python, fake_converter):
    found = find_converters([sys.executable, fake_python, fake_python])
    assert [each for each in found if each.python == fake_python] == [fake_converter]


@pytest.mark.parametrize("text", ["/nowhere/python", "no-such-python", "/bin/false", "/bin/cat", "/dev/null", "a\x1bb"])
def test_what_is_no_interpreter_is_one_line(text):
    with pytest.raises(OptionError, match="is not a working Python interpreter") as caught:
        find_converters([text])
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (source(SourceKind.KERAS), ["tensorflow", "keras"]),
        (source(SourceKind.SAVED_MODEL), ["tensorflow"]),
        (source(SourceKind.ONNX), ["onnx2tf"]),
        (source(SourceKind.TORCH_EXPORT), ["litert-torch"]),
        (source(SourceKind.TFLITE), ["litert-quantizer"]),
        (source(SourceKind.FUNCTION, "torch", "numpy"), ["litert-torch"]),
        (source(SourceKind.FUNCTION, "torch", "onnx"), ["onnx2tf", "litert-torch"]),
        (source(SourceKind.FUNCTION, "tensorflow"), ["tensorflow"]),
        (source(SourceKind.FUNCTION, "keras"), ["tensorflow", "keras"]),
        (source(SourceKind.FUNCTION, "numpy"), ["tensorflow", "onnx2tf", "litert-torch", "keras"]),
    ],
)
def test_routes_take_a_kind_of_source(given, names):
    assert [route.name for route in routes(given, ALL) if route.quantizer is None] == names


def test_a_quantizer_follows_every_converter_the_one_beside_it_first():
    near, far = Converter("ai-edge-quantizer", "1", "/near"), Converter("ai-edge-quantizer", "2", "/far")
    own = Converter("litert-torch", "1", "/near")
    assert routes(source(SourceKind.TORCH_EXPORT), [own, far, near]) == (Route(own), Route(own, near))
    assert routes(source(SourceKind.TORCH_EXPORT), [own, far]) == (Route(own), Route(own, far))
    assert Route(own, near).name == "litert-torch + ai-edge-quantizer"
    assert Route(own, near).version == "1 + 1"


@pytest.mark.parametrize(
    ("installed", "names", "replaced"),
    [
        ({"tf_nightly": "2.22", "keras": "3.15"}, {"tensorflow": "tf-nightly"}, set()),
        (
            {"keras": "3.15", "litert_torch_nightly": "0.11"},
            {"keras": "keras", "litert-torch": "litert-torch-nightly"},
            {"tensorflow"},
        ),
        ({"ai-edge-quantizer": "0.10"}, {"ai-edge-quantizer": "ai-edge-quantizer"}, {"litert-quantizer"}),
        (
            {"litert_quantizer": "0.11", "ai_edge_quantizer_nightly": "0.10"},
            {"litert-quantizer": "litert-quantizer", "ai-edge-quantizer": "ai-edge-quantizer-nightly"},
            set(),
        ),
    ],
)
def test_distributions_are_found_in_every_spelling(tmp_path, installed, names, replaced):
    python = make_environment_of(str(tmp_path), installed)
    converters = find_converters([python])
    assert {each.name: each.installed_name for each in converters if not each.is_missing} == names
    assert {each.name for each in converters if each.is_missing} == set(NAMES) - set(names) - replaced


@pytest.mark.parametrize(("version", "interface"), [("1.29.24", "onnx2tf"), ("2.6.9", "onnx2tf-2"), ("", "onnx2tf-2")])
def test_onnx2tf_has_other_scripts_since_version_2(version, interface):
    assert Converter("onnx2tf", version).interface == interface
