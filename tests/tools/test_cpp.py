"""Definitions and branches are found in C++ text."""

from __future__ import annotations

import re

import pytest

from tools.cpp import CppText

TEXT = r"""// A comment with a brace { and a name Commented() {}
#include <vector>
#define BRACE {
namespace tflite {
namespace {
constexpr char kText[] = "} /* not a comment";
constexpr int kTable[] = {
    1'000,
    2,
};
using Alias = std::vector<int>;

enum class Kind { kOne, kTwo };

class ABSL_EXPORT Outer final : public Base<int> {
 public:
  Outer() : first_(1), second_{2} {
    first_ = 3;
  }
  bool IsSupported(int version = int{1}) override {
    return version < '}';
  }
  struct Inner {
    std::vector<int> Values() const { return {1, 2}; }
  };
  void Declared();

 private:
  int first_;
};

template <typename T, int N>
struct Holder {
  T value[N];
};

#ifdef SOMETHING
bool Chosen() {
#else
bool Other() {
#endif
  return true;
}

const char* Raw() { return R"x(}{")x"; }
}  // namespace

std::unique_ptr<Outer> Outer::Make(const Options& options) {
  auto inner = [](int x) { return x; };
  return nullptr;
}

class Outer::Late {
  int Get() { return 0; }
};

template <>
Status Check<::tflite::Linear>(const Shape& shape) {
  return Ok();
}
}  // namespace tflite
"""


def line_of(words):
    return next(number for number, line in enumerate(TEXT.splitlines(), 1) if line.startswith(words))


@pytest.mark.parametrize(
    ("name", "first", "count"),
    [
        ("kTable", "constexpr int kTable", 4),
        ("Alias", "using Alias", 1),
        ("Kind", "enum class Kind", 1),
        ("Outer", "class ABSL_EXPORT Outer", 16),
        ("Outer::Outer", "  Outer()", 3),
        ("Outer::IsSupported", "  bool IsSupported", 3),
        ("Outer::Inner", "  struct Inner", 3),
        ("Outer::Inner::Values", "    std::vector<int> Values", 1),
        ("Holder", "template <typename T", 4),
        ("Chosen", "bool Chosen", 6),
        ("Raw", "const char* Raw", 1),
        ("Outer::Make", "std::unique_ptr<Outer> Outer::Make", 4),
        ("Outer::Late::Get", "  int Get()", 1),
        ("Check", "template <>", 4),
    ],
)
def test_definitions(name, first, count):
    text = CppText(TEXT)
    [definition] = [each for each in text.definitions() if each.name == name]
    start = line_of(first)
    assert text.lines(definition.start, definition.end) == (start, start + count - 1)


def test_only_definitions_are_found():
    names = {definition.name for definition in CppText(TEXT).definitions()}
    assert not names & {"Declared", "Outer::Declared", "Other", "Commented", "inner", "first_"}


BRANCHES = """
int Visit(int op) {
  if (op == kAdd && ready()) {
    for (int kAdd = 0; kAdd < 2; ++kAdd) prepare();
  }
  for (int i = 0; i < inputs; ++i) {
    if (i < inputs) check(i);
  }
  switch (op) {
    case kAdd:
    case kSub: {  // both
      switch (type) {
        case kAdd:
          break;
        default:
          return 1;
      }
      break;
    }
    // Of the next one.
    case kMul:
      return 2;
    default:
      if (name == "Custom{")
        return 3;
      return 4;
  }
}
"""


@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        (r"\bkAdd\b", [(10, 19)]),
        (r"\bkSub\b", [(10, 19)]),
        (r"\bkMul\b", [(21, 22)]),
        ("default", [(23, 26)]),
        ("kAdd &&", [(3, 5)]),
        ('"Custom{"', [(24, 25)]),
        ("i < inputs", [(6, 8)]),
        ("kDiv", []),
    ],
)
def test_branches(pattern, lines):
    text = CppText(BRANCHES)
    found = text.branches(0, len(BRANCHES), re.compile(pattern))
    assert [text.lines(*branch) for branch in found] == lines
