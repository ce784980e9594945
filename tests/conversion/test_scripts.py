import ast

import pytest

from delegate_sim.conversion.calibration import Calibration, CalibrationKind
from delegate_sim.conversion.converters import Converter, Route
from delegate_sim.conversion.scripts import code, scripts
from delegate_sim.conversion.settings import parse_settings, settings_for
from delegate_sim.conversion.sources import SourceKind, SourceModel
from delegate_sim.errors import OptionError

QUANTIZER = Converter("ai-edge-quantizer", "3", "/q")
KINDS = {
    "tensorflow": (SourceKind.SAVED_MODEL, SourceKind.KERAS, SourceKind.FUNCTION),
    "onnx2tf": (SourceKind.ONNX, SourceKind.FUNCTION),
    "onnx2tf 2": (SourceKind.ONNX, SourceKind.FUNCTION),
    "keras": (SourceKind.KERAS, SourceKind.FUNCTION),
    "litert-torch": (SourceKind.TORCH_EXPORT, SourceKind.FUNCTION),
}
CASES = [(name, kind) for name, kinds in KINDS.items() for kind in kinds]
HOSTILE = "/a'\"\\\n\x1b[31m\u202e{0}/m"
DATA = [Calibration(kind, HOSTILE, "data", "module", HOSTILE, ("a'\n.png",)) for kind in CalibrationKind]


def routes_of(text):
    name, _, version = text.partition(" ")
    own = Converter(name, version or "1", "/p")
    return Route(own), Route(own, QUANTIZER)


@pytest.mark.parametrize(("name", "kind"), CASES, ids=str)
@pytest.mark.parametrize("data", DATA, ids=lambda data: data.kind.value)
def test_every_script_is_python_that_prints_safely(name, kind, data):
    source = SourceModel(kind, HOSTILE, "0", HOSTILE, "make", "module", HOSTILE)
    for route in routes_of(name):
        for settings in settings_for(route):
            text = code(source, route, settings, data)
            ast.parse(text)
            assert all(line.isprintable() for line in text.split("\n"))
            assert repr(HOSTILE) in text


@pytest.mark.parametrize(
    ("name", "settings", "moves"),
    [
        ("onnx2tf", "int8", True),
        ("onnx2tf 2", "int8", True),
        ("keras", "int8", False),
        ("litert-torch", "int8", False),
        ("litert-torch", "int8+channels-last", True),
        ("tensorflow", "int8", False),
    ],
)
def test_arrays_follow_the_channels_to_the_quantizer(name, settings, moves):
    arrays = Calibration(CalibrationKind.ARRAYS, "/data.npz")
    source = SourceModel(KINDS[name][0], "/m", "0", "m")
    _, second = scripts(source, routes_of(name)[1], parse_settings(settings), arrays)
    assert ("moveaxis" in second.text) == moves


@pytest.mark.parametrize("name", ["litert-quantizer", "ai-edge-quantizer"])
def test_each_name_of_the_quantizer_is_a_package_of_its_own(name):
    source = SourceModel(SourceKind.KERAS, "/m.keras", "0", "m.keras")
    route = Route(Converter("tensorflow", "1", "/p"), Converter(name, "1", "/p"))
    assert f"from {name.replace('-', '_')} import qtyping" in scripts(source, route, parse_settings("dynamic-range"))[1].text


def test_each_step_names_what_runs_it():
    source = SourceModel(SourceKind.KERAS, "/m.keras", "0", "m.keras")
    text = code(source, routes_of("tensorflow")[1], parse_settings("dynamic-range"))
    assert [line for line in text.split("\n") if line.startswith("#")] == ["# tensorflow 1", "# ai-edge-quantizer 3"]


def test_a_route_refuses_what_it_does_not_know():
    source = SourceModel(SourceKind.TORCH_EXPORT, "/m.pt2", "0", "m.pt2")
    with pytest.raises(OptionError, match="litert-torch does not support the setting int8"):
        scripts(source, routes_of("litert-torch")[0], parse_settings("int8"))
