"""The operators that an application registers, and the code that registers them."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

import delegate_sim
from delegate_sim.errors import LimitError, OptionError
from delegate_sim.foundation import work_budget
from delegate_sim.micro.report import analyze, micro_warnings
from delegate_sim.micro.resolver import BUILTIN_FUNCTIONS, Operator, parse_resolver, read_cpp, resolver_lines
from delegate_sim.micro.target import MicroTarget
from tests.support.micro_models import chain
from tests.support.work import calls

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


def test_a_name_that_the_source_does_not_define_cannot_be_read():
    source = parse_resolver('r.AddConv2D(); r.AddCustom(ns::kName, x); r.AddCustom(f("a"), x); r.AddCustom(ns::kName, x);')
    assert (source.registered, source.unknown) == (("CONV_2D",), ())
    assert source.unreadable == ("AddCustom(ns::kName, ...)", 'AddCustom(f("a"), ...)')
    model = delegate_sim.load(chain("RELU").bytes())
    (warning,) = micro_warnings(model, analyze(model, source.registered_in(MicroTarget())))
    assert "AddCustom(ns::kName, ...)" in warning
    with pytest.raises(OptionError, match=r"names it does not have: AddCustom\(kName, \.\.\.\)"):
        parse_resolver("r.AddCustom(kName, x);")


def test_the_size_of_several_resolvers_is_not_known():
    source = "MicroMutableOpResolver<1> a; MicroMutableOpResolver<2> b; a.AddConv2D(); b.AddRelu();"
    assert parse_resolver(source).size is None


def test_operators_after_a_full_resolver_are_not_registered():
    source = parse_resolver("MicroMutableOpResolver<1> r; r.AddRelu(); r.AddRelu(); r.AddTanh(); r.AddExp();")
    target = source.registered_in(MicroTarget())
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


TWO = "MicroMutableOpResolver<2> a; MicroMutableOpResolver<3> b; a.AddRelu(); b.AddConv2D(); "


@pytest.mark.parametrize(
    ("source", "registered", "size"),
    [
        ("if (r.AddRelu() != kTfLiteOk && r.AddConv2D() != kTfLiteOk && r.AddPad() != kTfLiteOk) return;", ["RELU"], None),
        ("if (r.AddRelu() == tflite::kTfLiteOk || r.AddConv2D() == kTfLiteOk) go();", ["RELU"], None),
        ("if (r.AddRelu() != kTfLiteOk || r.AddConv2D() != kTfLiteOk) return;", ["RELU", "CONV_2D"], None),
        ("if (r.AddRelu() == kTfLiteOk && r.AddConv2D() == kTfLiteOk) go();", ["RELU", "CONV_2D"], None),
        ("if (r.AddRelu() != kTfLiteOk && x) return; r.AddConv2D();", ["RELU", "CONV_2D"], None),
        (f"{TWO} tflite::MicroInterpreter interpreter(model, b, arena, 10);", ["CONV_2D"], 3),
        (f"{TWO} new MicroInterpreter(GetModel(data, 3), a, arena, 10);", ["RELU", "CONV_2D"], None),
        (TWO, ["RELU", "CONV_2D"], None),
        ("void f(MicroMutableOpResolver<2>& r) { r.AddRelu(); } MicroMutableOpResolver<2> own; f(own); "
         "MicroInterpreter interpreter(model, own, arena, 10);", ["RELU"], 2),
    ],
)  # fmt: skip
def test_only_calls_that_run_on_the_interpreters_resolver_count(source, registered, size):
    found = parse_resolver(source)
    assert (list(found.registered), found.size) == (registered, size)


def test_interpreters_with_different_resolvers_are_refused():
    with pytest.raises(OptionError, match=r"has interpreters with different resolvers \(a, b\)"):
        parse_resolver(f"{TWO} MicroInterpreter one(model, a, arena, 10); MicroInterpreter other(model, b, arena, 10);")


def code_of(text):
    return read_cpp(text).code.split()


@pytest.mark.parametrize(
    "text",
    [
        "a // b",
        "a // b \\\nb",
        "a /* b\n b */",
        "a /* b",
        "a /* // */ /* b */",
        "a 'b'",
        r"a '\'b'",
        r"""a '"' /* b */""",
        "#if 0\nb\n#endif\na",
        "#if 0\nb\n#else\na\n#endif",
        "#if 0 // b\nb\n#elif 1\na\n#else\nb\n#endif",
        "#if (false) /* b\n*/\nb\n#endif\na",
        "#if 1\na\n#elif B\nb\n#else\nb\n#endif",
        "#if 0\n#if 1\nb\n#else\nb\n#endif\nb\n#endif\na",
        "  #  if 0\r\nb\r\n  #  endif\r\na",
        "#if 0\nb it's\n#endif\na",
        '#if 0\nb "b\n#endif\na',
        "/*\n#if 0\n*/ a",
        "a\n#if 0\nb",
    ],
)
def test_only_compiled_code_stays(text):
    assert code_of(text) == ["a"]


@pytest.mark.parametrize("opening", ["#ifdef X", "#ifndef X", "#if X", "#if defined(X) && X > 1"])
def test_all_branches_of_an_unknown_condition_stay(opening):
    assert code_of(f"{opening}\na\n#elif Y\nb\n#else\nc\n#endif\nd") == ["a", "b", "c", "d"]
    assert code_of(f"{opening}\na\n#elif 0\nb\n#else\nc\n#endif") == ["a", "c"]
    assert code_of(f"{opening}\na\n#elif 1\nb\n#else\nc\n#endif") == ["a", "b"]


@pytest.mark.parametrize(
    ("literal", "text"),
    [
        ('"a // b"', "a // b"),
        (r'"a\"b"', 'a"b'),
        (r'"\x41"', r"\x41"),
        ('u8"a"', "a"),
        (r'R"(a\n)"', r"a\n"),
        ('R"x(a)" /* b */ )x"', 'a)" /* b */ '),
        ('LR"(#if 0\n)"', "#if 0\n"),
        ('"a" /* b */ "c"', "ac"),
        ('"a', "a"),
    ],
)
def test_literals_are_kept_apart(literal, text):
    source = read_cpp(f"f({literal}")
    assert source.string(source.code) == text
    assert not set("abc") & set(source.code)


def test_quotes_in_numbers_and_names_open_no_literal():
    assert code_of("f(1'000); a'b'c") == ["f(1'000);", "a", "c"]
    assert code_of('FOOR"(b" a') == ['FOOR"0"', "a"]


def test_stray_directives_change_nothing():
    assert code_of("#endif\n#else\na\n#define B b") == ["a", "#define", "B", "b"]


@pytest.mark.parametrize("part", ["#if A\nx\n", "#if 0\n", '"a', "a 1 ", "AddA<", "a::"])
def test_twice_the_source_is_twice_the_work(part):
    once, twice = (calls(parse_resolver, f"AddAdd();\n{part * count}") for count in (1000, 2000))
    assert twice < 2.6 * once


def test_nested_conditionals():
    assert code_of("#if 0\n#if A\n#else\nb\n#endif\n#endif\n#endif\na\n#if B\na\n#if 0\nb\n#endif\na\n#endif\na") == ["a"] * 4


@pytest.mark.parametrize(("text", "literal"), [('"a\\\\" b', "a\\"), ('"a\\"b"', 'a"b'), ('"a', "a"), ('""', "")])
def test_escapes_in_literals(text, literal):
    assert read_cpp(text).strings[0] == literal


@pytest.mark.parametrize("number", ["1", "1'000", "0x1p3", "1'", "1.5'5"])
def test_numbers(number):
    assert read_cpp(f"{number} 'c'").code.split()[0].rstrip("'") == number.rstrip("'")


def test_source_beyond_the_limit(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 100)
    with work_budget.work_budget(), pytest.raises(LimitError):
        read_cpp("a" * 101)
    with work_budget.work_budget(), pytest.raises(OptionError, match=r"cannot be read: reading C\+\+ source takes more"):
        parse_resolver("a" * 101)


def test_string_literals_cost_steps(monkeypatch):
    monkeypatch.setattr(work_budget, "_MOST_STEPS", 500)
    for text, fits in (("a" * 400, True), ('""' * 150, False)):
        with work_budget.work_budget(), nullcontext() if fits else pytest.raises(LimitError, match="source"):
            read_cpp(text)
