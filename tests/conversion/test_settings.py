import pytest
from hypothesis import given
from hypothesis import strategies as st

from delegate_sim.conversion.converters import Converter, Route
from delegate_sim.conversion.settings import (
    FLOAT,
    OPTIONS,
    QUANTIZATIONS,
    Settings,
    goes_with,
    knows,
    parse_settings,
    settings_for,
    tensorflow_lines,
)
from delegate_sim.errors import OptionError

TENSORFLOW, TORCH = Converter("tensorflow", "1"), Converter("litert-torch", "1")
QUANTIZER = Converter("ai-edge-quantizer", "1")
OPTIMIZED = "converter.optimizations = [tf.lite.Optimize.DEFAULT]"
ROUTES = [
    Route(TENSORFLOW),
    Route(TENSORFLOW, QUANTIZER),
    Route(Converter("onnx2tf", "1")),
    Route(Converter("onnx2tf", "2.6.9")),
    Route(Converter("keras", "3.15")),
    Route(TORCH),
    Route(TORCH, QUANTIZER),
]


@st.composite
def any_settings(draw):
    quantization = draw(st.sampled_from(list(QUANTIZATIONS)))
    options = draw(st.sets(st.sampled_from([name for name in OPTIONS if goes_with(name, quantization)])))
    options -= {"per-tensor"} if "dense-per-tensor" in options else set()
    sizes = st.lists(st.integers(1, 999), min_size=1, max_size=5).map(tuple)
    shapes = draw(st.dictionaries(st.text(min_size=1), sizes, max_size=3)) if "fixed" in options else {}
    return Settings(quantization, tuple(options), tuple(shapes.items()))


@pytest.mark.slow
@given(any_settings())
def test_a_name_says_everything(settings):
    assert parse_settings(settings.name) == settings
    assert settings.name.isprintable()


def test_names_are_short_where_they_can_be():
    settings = parse_settings("int8+fixed+dense-per-tensor+serving_default_x:0=1x224x224x3")
    assert settings.name == "int8+dense-per-tensor+fixed+serving_default_x:0=1x224x224x3"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int9", "there is no quantization 'int9'"),
        ("", "there is no quantization ''"),
        ("int8+fast", "there is no setting 'fast'"),
        ("float+integer-io", "the setting integer-io cannot be combined with float"),
        ("int8+per-tensor+dense-per-tensor", "the settings dense-per-tensor and per-tensor cannot be combined"),
        ("float+x=1x2", "input shapes can be given only with the setting 'fixed'"),
        ("float+fixed+x=1x0", "'1x0' is not a shape"),
        ("float+fixed+x=", "'' is not a shape"),
        ("\x1b", "there is no quantization"),
    ],
)
def test_settings_that_do_not_exist_are_one_line(text, words):
    with pytest.raises(OptionError, match=words) as caught:
        parse_settings(text)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{route.name} {route.version}")
def test_what_is_tried_is_known_and_tried_once(route):
    tried = settings_for(route)
    assert tried
    assert all(knows(route, settings) for settings in tried)
    assert len(set(tried)) == len(tried)
    options = {option for settings in tried for option in settings.options}
    assert not options.intersection({"fixed", "unfolded", "channels-last"}) or route.quantizer is None


def test_every_quantization_and_option_is_tried_by_some_route():
    tried = [settings for route in ROUTES for settings in settings_for(route)]
    assert {settings.quantization for settings in tried} == set(QUANTIZATIONS)
    assert {option for settings in tried for option in settings.options} == set(OPTIONS)


def test_steps_share_the_settings_out():
    settings = parse_settings("int8+dense-per-tensor+fixed+unfolded+x=1x2")
    assert settings.of_float_model == parse_settings("float+fixed+unfolded+x=1x2")
    assert settings.of_quantizer == parse_settings("int8+dense-per-tensor")
    assert knows(Route(TENSORFLOW, QUANTIZER), settings)
    assert not knows(Route(TORCH, QUANTIZER), settings)
    assert not knows(Route(TENSORFLOW, QUANTIZER), FLOAT.with_option("fixed"))


def test_another_quantization_leaves_out_what_does_not_go_with_it():
    settings = parse_settings("int8+integer-io+fixed+x=1x2")
    assert settings.with_quantization("float").name == "float+fixed+x=1x2"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("float", []),
        (
            "float16",
            ["converter.optimizations = [tf.lite.Optimize.DEFAULT]", "converter.target_spec.supported_types = [tf.float16]"],
        ),
        (
            "int16x8+integer-io+old-quantizer",
            [
                OPTIMIZED,
                "converter.representative_dataset = samples",
                "converter.target_spec.supported_ops = "
                "[tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8]",
                "converter.inference_input_type = tf.int16",
                "converter.inference_output_type = tf.int16",
                "converter.experimental_new_quantizer = False",
            ],
        ),
        (
            "dynamic-range+old-quantizer",
            [
                OPTIMIZED,
                "converter.experimental_new_dynamic_range_quantizer = False",
            ],
        ),
    ],
)
def test_the_lines_for_tensorflow(name, lines):
    assert list(tensorflow_lines(parse_settings(name))) == lines
