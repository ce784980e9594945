import sys
from pathlib import Path

import pytest

from delegate_sim.conversion.converters import Converter, Route, find_converters, routes
from delegate_sim.conversion.sources import SourceKind, SourceModel
from delegate_sim.errors import OptionError

NAMES = ("tensorflow", "onnx2tf", "litert-torch", "ai-edge-quantizer")
ALL = tuple([Converter(name, "1", "/p") for name in NAMES])


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
        "ai-edge-quantizer": "pip install '.[sweep-torch]'",
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
        (source(SourceKind.KERAS), ["tensorflow"]),
        (source(SourceKind.SAVED_MODEL), ["tensorflow"]),
        (source(SourceKind.ONNX), ["onnx2tf"]),
        (source(SourceKind.TORCH_EXPORT), ["litert-torch"]),
        (source(SourceKind.TFLITE), ["ai-edge-quantizer"]),
        (source(SourceKind.FUNCTION, "torch", "numpy"), ["litert-torch"]),
        (source(SourceKind.FUNCTION, "torch", "onnx"), ["onnx2tf", "litert-torch"]),
        (source(SourceKind.FUNCTION, "numpy"), ["tensorflow", "onnx2tf", "litert-torch"]),
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
