"""The operators that an application registers, and the code that registers them."""

from __future__ import annotations

import pytest

import delegate_sim
from delegate_sim.errors import OptionError
from delegate_sim.micro.report import analyze
from delegate_sim.micro.resolver import BUILTIN_FUNCTIONS, Operator, parse_resolver, resolver_lines
from tests.support.micro_models import chain

SOURCE = """\
constexpr int kOps = 4;
tflite::MicroMutableOpResolver<kOps> resolver;
resolver.AddConv2D(tflite::Register_CONV_2D_INT8());
// resolver.AddSoftmax();
/* resolver.AddTanh(); */
printf("resolver.AddRelu(); // "); Log(R"(resolver.AddElu();)");
#if 0
resolver.AddExp();
#else
resolver.AddNeg();
#endif
resolver.AddFullyConnected();
op_resolver->AddCustom("MyOp", &registration);
"""


def test_only_calls_of_compiled_code_are_read():
    source = parse_resolver(SOURCE)
    assert source.registered == ("CONV_2D", "NEG", "FULLY_CONNECTED", "MyOp")
    assert source.size == 4
    assert source.unknown == ()


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ('r.AddCustom("My" "Op", x);', "MyOp"),
        ('constexpr char kName[] = "MyOp"; r.AddCustom(kName, x);', "MyOp"),
        ('#define NAME "MyOp"\nr.AddCustom(NAME, x);', "MyOp"),
        ("r.AddCustom(tflite::GetString_ETHOSU(), tflite::Register_ETHOSU());", "ethos-u"),
        ("r.AddBuiltin(tflite::BuiltinOperator_GELU, x, y);", "GELU"),
    ],
)
def test_own_kernels_are_registered_by_name(source, name):
    assert parse_resolver(source).registered == (name,)


def test_a_name_that_the_source_does_not_define_is_unknown():
    assert parse_resolver("r.AddConv2D(); r.AddCustom(kName, x);").unknown == ("AddCustom",)


def test_the_size_of_several_resolvers_is_not_known():
    source = "MicroMutableOpResolver<1> a; MicroMutableOpResolver<2> b; a.AddConv2D(); b.AddRelu();"
    assert parse_resolver(source).size is None


def test_operators_after_a_full_resolver_are_not_registered():
    source = parse_resolver("MicroMutableOpResolver<1> r; r.AddRelu(); r.AddRelu(); r.AddTanh(); r.AddExp();")
    target = source.target("reference")
    assert (target.registered, target.without_room) == ({"RELU"}, {"TANH", "EXP"})
    model = delegate_sim.load(chain("RELU", "TANH").bytes())
    (node,) = analyze(model, target).refused
    assert (node.operator, node.reasons[0].hint) == ("TANH", "write MicroMutableOpResolver<3>")


def test_an_unknown_function_is_named():
    assert parse_resolver("r.AddConv2D(); r.AddConvolution2D();").unknown == ("AddConvolution2D",)


def test_a_resolver_of_all_operators_registers_all():
    assert parse_resolver("tflite::AllOpsResolver resolver;").registered is None


def test_a_source_without_calls_is_refused():
    with pytest.raises(OptionError, match="has no call such as"):
        parse_resolver("int main() {}")


def test_own_kernels_count_in_the_lines():
    operators = [Operator("CONV_2D", False), Operator("GELU", False), Operator('My"Op', True)]
    lines = resolver_lines(operators)
    assert lines[0] == "tflite::MicroMutableOpResolver<3> resolver;"
    assert lines[1] == "resolver.AddConv2D();"
    assert lines[2] == "// GELU: no kernel in TensorFlow Lite Micro"
    assert lines[3].startswith(r'resolver.AddCustom("My\"Op", ')


def test_lines_are_read_as_the_operators_that_they_register():
    lines = resolver_lines([Operator(name, False) for name in BUILTIN_FUNCTIONS])
    source = parse_resolver("\n".join(lines))
    assert set(source.registered) == set(BUILTIN_FUNCTIONS)
    assert source.size == len(BUILTIN_FUNCTIONS)
