"""The operators that an application registers, and the code that registers them."""

from __future__ import annotations

import pytest

from delegate_sim.errors import OptionError
from delegate_sim.micro.resolver import BUILTIN_FUNCTIONS, Operator, parse_resolver, resolver_lines

SOURCE = """\
constexpr int kOps = 3;
tflite::MicroMutableOpResolver<kOps> resolver;
resolver.AddConv2D(tflite::Register_CONV_2D_INT8());
// resolver.AddSoftmax();
/* resolver.AddTanh(); */
resolver.AddFullyConnected();
op_resolver->AddCustom("MyOp", &registration);
"""


def test_calls_are_read_without_those_in_comments():
    source = parse_resolver(SOURCE)
    assert source.registered == {"CONV_2D", "FULLY_CONNECTED", "MyOp"}
    assert source.size == 3
    assert source.unknown == ()


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
    assert lines[2].startswith("resolver.AddBuiltin(tflite::BuiltinOperator_GELU, ")
    assert lines[3].startswith(r'resolver.AddCustom("My\"Op", ')


def test_lines_are_read_as_the_operators_that_they_register():
    lines = resolver_lines([Operator(name, False) for name in BUILTIN_FUNCTIONS])
    source = parse_resolver("\n".join(lines))
    assert source.registered == set(BUILTIN_FUNCTIONS)
    assert source.size == len(BUILTIN_FUNCTIONS)
