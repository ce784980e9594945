"""Fixing every model of a bundle."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from delegate_sim import load
from delegate_sim.errors import FixError, ModelError
from delegate_sim.fixing.bundle_fix import fix_bundle, search_bundle
from delegate_sim.graph import effort
from delegate_sim.llm.contents import read_contents
from fixtures.bundles import zip_bytes
from fixtures.language_models import bundle, decoder, embedder, encoder, metadata, tokenizer
from tests.support.fixing.targets import target

GPU = target("mldrift")
RANK5 = decoder(operators={"prefill_16": ["RESHAPE5"], "decode": ["RESHAPE5"]})
EMBEDDER = {"model_type": "tf_lite_embedder", "backend_constraint": "cpu"}
ENCODER = {"model_type": "tf_lite_vision_encoder"}
SECTIONS = [(42, {"name": "of a later format"}, b"abc"), (3, EMBEDDER, embedder()), (3, ENCODER, encoder())]


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "llm.litertlm"
    path.write_bytes(bundle(RANK5, {"backend_constraint": "gpu,cpu"}, further=SECTIONS))
    return str(path)


def contents_of(path):
    """Return the bytes of each section by name."""
    whole = Path(path).read_bytes()
    return {section.name: whole[section.begin : section.end] for section in read_contents(path).sections}


def rewritten(bundle):
    """Return the rewritten models of a written bundle by number."""
    return {section.number: section.fixed for section in bundle.sections if section.fixed is not None}


def operators(path, section):
    return [[node.op for node in graph.nodes] for graph in load(f"{path}!/{section}").subgraphs]


def test_every_section_and_signature_is_rewritten(source, tmp_path):
    plan = search_bundle(source, [GPU])
    assert {section.name: section.is_changed for section in plan.sections} == {
        "tf_lite_prefill_decode": True,
        "tf_lite_embedder": True,
        "tf_lite_vision_encoder": False,
    }
    path = str(tmp_path / "fixed.litertlm")
    fixed = fix_bundle(plan, path, proves=False)
    assert sorted(rewritten(fixed)) == [2, 4]
    assert rewritten(fixed)[2].path == f"{path}!/tf_lite_prefill_decode"
    for before, after in zip(operators(source, "tf_lite_prefill_decode"), operators(path, "tf_lite_prefill_decode"), strict=True):
        assert before.count("RESHAPE") == 3
        assert after.count("RESHAPE") == 1
    assert operators(path, "tf_lite_embedder") == [["RESHAPE", "GATHER", "RESHAPE"]]
    assert [(change.backend, change.before.outcome, change.after.outcome) for change in fixed.engine] == [
        ("gpu", "refused", "starts")
    ]


def test_all_else_stays_as_it_is(source, tmp_path):
    path = str(tmp_path / "fixed.litertlm")
    fix_bundle(search_bundle(source, [GPU]), path, proves=False)
    before, after = read_contents(source).sections, read_contents(path).sections
    assert [(one.name, one.kind, one.items) for one in before] == [(one.name, one.kind, one.items) for one in after]
    changed = {name for name, content in contents_of(path).items() if content != contents_of(source)[name]}
    assert changed == {"tf_lite_prefill_decode", "tf_lite_embedder"}


def test_models_are_proven(source, tmp_path):
    pytest.importorskip("ai_edge_litert", reason="needs the runtime: install the extra 'fix'")
    fixed = fix_bundle(search_bundle(source, [GPU]), str(tmp_path / "fixed.litertlm"), samples=1)
    assert all(model.difference.is_same for model in rewritten(fixed).values())


def test_a_bundle_of_the_builder_is_fixed_and_read_by_its_own_reader(tmp_path):
    builder = pytest.importorskip("litert_lm_builder.litertlm_builder", reason="needs litert-lm-builder")
    peek = pytest.importorskip("litert_lm_builder.litertlm_peek", reason="needs litert-lm-builder")
    models = {"prefill_decode": RANK5, "embedder": embedder()}
    for name, content in {**models, "metadata.pb": metadata(), "tokenizer.spiece": tokenizer()}.items():
        (tmp_path / name).write_bytes(content)
    built = builder.LitertLmFileBuilder()
    built.add_system_metadata(builder.Metadata(key="author", value="test", dtype=builder.DType.STRING))
    built.add_llm_metadata(str(tmp_path / "metadata.pb"))
    built.add_sentencepiece_tokenizer(str(tmp_path / "tokenizer.spiece"))
    built.add_tflite_model(str(tmp_path / "prefill_decode"), builder.TfLiteModelType.PREFILL_DECODE, backend_constraint="gpu,cpu")
    built.add_tflite_model(str(tmp_path / "embedder"), builder.TfLiteModelType.EMBEDDER, prefer_activation_type="fp16")
    source, path = str(tmp_path / "llm.litertlm"), str(tmp_path / "fixed.litertlm")
    with open(source, "wb") as file:
        built.build(file)
    fixed = fix_bundle(search_bundle(source, [GPU]), path, proves=False)
    assert len(rewritten(fixed)) == len(models)
    with open(tmp_path / "peek.txt", "w", encoding="utf-8") as stream:
        peek.peek_litertlm_file(path, str(tmp_path / "dump"), stream)
    dumped = [file.read_bytes() for file in (tmp_path / "dump").iterdir() if file.suffix == ".tflite"]
    own = contents_of(path)
    assert sorted(dumped) == sorted([own["tf_lite_prefill_decode"], own["tf_lite_embedder"]])
    text = (tmp_path / "peek.txt").read_text(encoding="utf-8")
    assert all(words in text for words in ("gpu,cpu", "fp16", "author"))


def test_a_damaged_model_stays_as_it_is(tmp_path):
    path = tmp_path / "llm.litertlm"
    path.write_bytes(bundle(RANK5, further=[(3, EMBEDDER, b"\0\0\0\0TFL3" + bytes(90))]))
    plan = search_bundle(str(path), [GPU])
    assert plan.sections[1].plan is None
    assert "tf_lite_embedder" in plan.sections[1].problem
    fix_bundle(plan, str(tmp_path / "fixed.litertlm"), proves=False)
    assert contents_of(tmp_path / "fixed.litertlm")["tf_lite_embedder"] == contents_of(path)["tf_lite_embedder"]


def test_a_section_outside_the_file(tmp_path):
    path = tmp_path / "llm.litertlm"
    path.write_bytes(bundle(RANK5)[:-20000])
    with pytest.raises(ModelError, match="section 2 overlaps another section or lies outside the file"):
        search_bundle(str(path), [GPU])


def test_files_that_exist_are_kept(source, tmp_path):
    plan = search_bundle(source, [GPU])
    (tmp_path / "other").write_bytes(b"mine")
    with pytest.raises(FixError, match="already exists"):
        fix_bundle(plan, str(tmp_path / "other"), proves=False)
    with pytest.raises(FixError, match="is an input file"):
        fix_bundle(plan, source, replaces=True, proves=False)
    fix_bundle(plan, str(tmp_path / "other"), replaces=True, proves=False)
    assert (tmp_path / "other").read_bytes()[:8] == b"LITERTLM"


def test_a_bundle_without_anything_to_fix(tmp_path):
    path = tmp_path / "llm.litertlm"
    path.write_bytes(bundle(decoder()))
    plan = search_bundle(str(path), [GPU])
    assert not plan.is_changed
    with pytest.raises(FixError, match="nothing to write"):
        fix_bundle(plan, str(tmp_path / "fixed.litertlm"), proves=False)


def test_a_task_file(tmp_path):
    source, path = tmp_path / "llm.task", str(tmp_path / "fixed.task")
    source.write_bytes(zip_bytes({"TF_LITE_PREFILL_DECODE": RANK5, "TOKENIZER_MODEL": tokenizer()}))
    plan = search_bundle(str(source), [GPU])
    fixed = fix_bundle(plan, path, proves=False)
    assert rewritten(fixed)[0].path == f"{path}!/TF_LITE_PREFILL_DECODE"
    assert fixed.engine == ()
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["TF_LITE_PREFILL_DECODE", "TOKENIZER_MODEL"]
        assert archive.read("TOKENIZER_MODEL") == tokenizer()
    assert operators(path, "TF_LITE_PREFILL_DECODE")[1].count("RESHAPE") == 1


def test_all_models_share_one_limit(source, monkeypatch):
    monkeypatch.setattr(effort, "_MOST_NODES", 600)
    plans = [section.plan for section in search_bundle(source, [GPU]).sections]
    assert "limited to 600 nodes" in plans[0].not_simulated[0]
    assert plans[1:] == [None, None]
    assert "limited to 600 nodes" in search_bundle(source, [GPU]).sections[1].problem
