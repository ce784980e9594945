"""The page as a file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from delegate_sim.page.content import PageView, page_content
from delegate_sim.page.document import as_data, document, page
from delegate_sim.results.report.outcome_words import NOT_COMPILED
from fixtures.builder import ModelBuilder
from tests.support.hostile_names import NAMES, hostile_model
from tests.support.pages import MODELS, timed_view, views


class Elements(HTMLParser):
    """Collects elements with their attributes and texts."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.is_open = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs), []))
        self.is_open = True

    def handle_data(self, data):
        if self.is_open:
            self.found[-1][2].append(data)

    def handle_endtag(self, tag):
        self.is_open = False

    def of(self, tag):
        return [(attributes, "".join(texts)) for name, attributes, texts in self.found if name == tag]


@pytest.fixture(scope="module")
def written():
    return page(views(str(MODELS / "mobilenet_block.tflite"), delegates=("nnapi", "gpu")))


def test_the_file_names_nothing_outside_itself(written):
    elements = Elements(written)
    assert not elements.of("link")
    assert not elements.of("img")
    assert not elements.of("iframe")
    assert not re.search(r"""\b(?:src|href)=["'](?!#)""", written)
    assert not re.search(r"https?://|@import|url\((?!#)", written)


def test_the_policy_allows_this_script_and_this_style_alone(written):
    elements = Elements(written)
    policy = next(attributes["content"] for attributes, _ in elements.of("meta") if attributes.get("http-equiv"))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    (style,) = [text for _, text in elements.of("style")]
    (script,) = [text for attributes, text in elements.of("script") if "type" not in attributes]
    for text, kind in ((style, "style-src"), (script, "script-src")):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[kind] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy


def test_no_element_has_a_handler_or_a_style_of_its_own(written):
    assert not [
        name for _, attributes, _ in Elements(written).found for name in attributes if name.startswith("on") or name == "style"
    ]


def test_the_content_is_the_one_that_was_made():
    given = views(str(MODELS / "mobilenet_block.tflite"))
    (data,) = [text for attributes, text in Elements(page(given)).of("script") if attributes.get("type")]
    assert json.loads(data) == json.loads(json.dumps(page_content(given)))


@pytest.mark.parametrize("text", ["</script>", "<!--", "<script", "]]>", "&amp;", "\u2028", "\u2029", "\ud800"])
def test_data_cannot_end_its_element(text):
    written = as_data({"name": text, "list": [text]})
    assert not re.search("[<>&\u2028\u2029]", written)
    assert json.loads(written)["name"] == text
    assert written.isprintable()


@pytest.fixture(scope="module")
def hostile():
    return page(views(hostile_model().bytes()))


class TestHostile:
    def test_there_are_as_many_scripts_as_in_any_page(self, hostile):
        assert len(Elements(hostile).of("script")) == 2
        assert len(re.findall("<script", hostile)) == 2
        assert len(re.findall("</script", hostile)) == 2

    def test_every_text_is_printable_and_of_limited_length(self, hostile):
        (data,) = [text for attributes, text in Elements(hostile).of("script") if attributes.get("type")]
        for text in texts(json.loads(data)):
            assert text.isprintable()
            assert len(text) <= 1000

    def test_names_are_there_as_they_are(self, hostile):
        (data,) = [text for attributes, text in Elements(hostile).of("script") if attributes.get("type")]
        names = json.loads(data)["graphs"][0]["tensors"]["name"]
        assert set(NAMES[:5]) <= set(names)

    def test_a_name_like_a_mark_of_the_template_is_no_mark(self, hostile):
        assert "{{script}} {{content}}" in hostile


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from texts(key)
            yield from texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from texts(each)


class TestContent:
    def test_the_partitions_have_every_node_of_the_plan_once(self):
        for found in page_content(views(str(MODELS / "many_partitions.tflite"))).get("views"):
            for subgraph in found["subgraphs"]:
                nodes = [node for partition in subgraph["partitions"] for node in partition["nodes"]]
                assert sorted(nodes) == list(range(len(subgraph["states"])))

    def test_targets_of_a_model_share_its_graph(self):
        found = page_content(views(str(MODELS / "mobilenet_block.tflite"), delegates=("nnapi", "gpu")))
        assert len(found["models"]) == 1
        assert len(found["graphs"]) == 1
        assert [view["subgraphs"][0]["graph"] for view in found["views"]] == [0, 0]

    def test_bytes_and_reasons_are_those_of_the_report(self):
        (given,) = views(str(MODELS / "mobilenet_block.tflite"))
        (found,) = page_content([given])["views"]
        from delegate_sim.results.report.report import Report

        entry = Report(given.model, (given.run,)).to_dict()["runs"][0]["subgraphs"][0]
        shown = found["subgraphs"][0]
        assert [partition["bytes"] for partition in shown["partitions"]] == [
            [partition["bytes_in"], partition["bytes_out"]] for partition in entry["partition_list"]
        ]
        for position, node in enumerate(entry["nodes"]):
            codes = [found["reasons"][number]["code"] for number in shown["reasons"].get(str(position), [])]
            assert codes == [reason["code"] for reason in node["reasons"]]

    def test_causes_stand_in_the_order_of_the_diagnosis(self):
        (given,) = views(str(MODELS / "mobilenet_block.tflite"))
        (found,) = page_content([given])["views"]
        assert [cause["title"] for cause in found["causes"]] == [each.cause.title for each in given.diagnosis.findings]

    def test_nodes_of_a_plugin_are_only_selected(self):
        (found,) = page_content(views(str(MODELS / "mobilenet_block.tflite"), delegates=("npu-samsung",)))["views"]
        assert found["grade"] == "selected"
        assert found["note"] == NOT_COMPILED
        assert (found["words"]["left"], found["words"]["kernels"]) == ("off the NPU", "partitions to compile")

    @pytest.mark.parametrize(("op", "kind", "grade", "fails"), [("MUL", "FLOAT32", "bad", False), ("EXP", "UINT8", "bad", True)])
    def test_wrong_numbers_are_no_failure(self, op, kind, grade, fails):
        builder = ModelBuilder()
        graph = builder.subgraph()
        scales = {"scale": 0.1} if kind == "UINT8" else {}
        source, result = graph.input("x", kind, (3,), **scales), graph.tensor("y", kind, (3,), **scales)
        factors = [graph.tensor("factors", kind, (3,), data=[1, 2, 3])] if op == "MUL" else []
        graph.node(op, [source, *factors], [result], options={})
        graph.outputs(result)
        (found,) = page_content(views(builder.bytes(), delegates=("mldrift" if op == "MUL" else "nnapi",)))["views"]
        assert (found["grade"], found.get("fails", False)) == (grade, fails)

    def test_nodes_of_two_models_are_matched(self):
        found = page_content(views(str(MODELS / "static_shape_chain.tflite"), str(MODELS / "dynamic_shape_chain.tflite")))
        first, second = found["matches"]
        assert first is None
        assert second[0]

    def test_times_of_bars_nodes_and_partitions(self):
        (found,) = page_content([timed_view(str(MODELS / "many_partitions.tflite"))])["views"]
        bars = found["time"]["bars"]
        assert sum([bar["ms"] for bar in bars]) == pytest.approx(found["time"]["total"])
        assert [bar["kind"] for bar in bars] == ["kernel", "node"] * 4 + ["kernel"]
        (subgraph,) = found["subgraphs"]
        assert subgraph["ms"] == {"1": 0.25, "5": 0.75, "8": 1.125, "10": 1.375}
        assert subgraph["partition_ms"] == {str(number): bar["ms"] for number, bar in enumerate(bars)}
        assert found["causes"][0]["ms"] == pytest.approx(3.5)

    def test_without_a_profile_there_are_no_times(self):
        (found,) = page_content(views(str(MODELS / "many_partitions.tflite")))["views"]
        assert found["time"] is None
        assert "ms" not in found["subgraphs"][0]

    def test_without_a_diagnosis_there_are_no_causes(self):
        (given,) = views(str(MODELS / "mobilenet_block.tflite"))
        (found,) = page_content([PageView(given.model, given.run)])["views"]
        assert found["causes"] is None


def test_the_title_is_escaped():
    content = page_content(views(str(MODELS / "mobilenet_block.tflite")))
    content["models"][0]["name"] = '<b>&"x'
    assert "<title>&lt;b&gt;&amp;&quot;x - delegate-sim</title>" in document(content)
