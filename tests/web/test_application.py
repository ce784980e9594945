"""The browser application in a real browser: files come in, results are shown."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
import zipfile

import pytest

import delegate_sim
from fixtures.bundles import litertlm_bytes, zip_bytes
from tests.support.hostile_names import NAMES, hostile_model
from tests.support.models import convolution_without_bias
from tests.support.pages import MODELS
from tests.support.visits import Visit
from tools.docs.web import served

pytestmark = pytest.mark.slow

BLOCK = MODELS / "transformer_block.tflite"
MOBILENET = MODELS / "mobilenet_block.tflite"
MODEL = BLOCK.read_bytes()


def row_of(page, target):
    return page.locator(f"#overview-table tr[data-delegate='{target}']")


def test_a_dropped_model_is_shown_on_all_targets_at_once(opened):
    opened.drop(("block.tflite", MODEL))
    opened.idle()
    page = opened.page
    headline = page.inner_text("#headline")
    assert headline.startswith("Largest share of 9 targets: GPU and ML Drift run 98.4 %")
    assert page.locator("#overview-table tr[data-delegate]").count() == 17
    assert "11.1 %" in row_of(page, "nnapi").inner_text()
    assert "57 of 63" in row_of(page, "nnapi").inner_text()
    assert "older version" in row_of(page, "nnapi").inner_text()
    assert "none" in row_of(page, "hexagon").inner_text()
    assert "main blocker" in page.locator("#overview-text pre").text_content()


def test_the_best_targets_of_each_kind_of_devices_come_first_with_their_names(opened):
    opened.choose(BLOCK)
    opened.idle()
    rows = opened.page.locator("#overview-table tbody tr")
    titles = rows.locator(":is(th[scope=rowgroup], th button)").all_inner_texts()
    assert titles[:3] == ["Most devices", "ML Drift", "XNNPACK"]
    assert titles.index("NNAPI on Android 13") > titles.index("GPU")
    assert titles[titles.index("Boards") :].index("Teflon") > titles[titles.index("Boards") :].index("VX delegate")
    assert "deprecated since Android 15" in row_of(opened.page, "nnapi").inner_text()


@pytest.mark.parametrize("width", [400, 1400])
def test_the_result_is_in_view_and_beside_the_targets_if_there_is_room(opened, width):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    page.set_viewport_size({"width": width, "height": 900})
    try:
        page.select_option("#delegate", "coreml")
        row_of(page, "xnnpack").get_by_role("button").click()
        opened.report()
        page.locator("#tab-report").evaluate("tab => new Promise(done => setTimeout(done, 1000))")
        top = page.evaluate("document.getElementById('panel').getBoundingClientRect().top")
        assert 0 <= top < 700, top
        left = [page.locator(name).bounding_box()["x"] for name in ("#list", "#target")]
        assert (left[1] > left[0] + 300) == (width == 1400)
    finally:
        page.set_viewport_size({"width": 1400, "height": 900})


def test_the_example_is_shown_while_python_loads(visit):
    opened = visit()
    opened.page.goto(opened.address)
    assert opened.page.locator("#about svg, #about li").count() > 0
    assert not opened.page.locator("body.ready").count()


def test_the_page_says_that_the_model_stays_here(opened):
    assert "Your model stays on this computer" in opened.page.locator("#privacy").inner_text()


def test_a_click_on_a_target_shows_its_report_and_a_switch_shows_another(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    row_of(page, "gpu").get_by_role("button").click()
    assert opened.report().text_content(".headline").startswith("GPU runs 98.4\xa0%")
    assert page.evaluate("document.activeElement.id") == "tab-report"
    page.select_option("#delegate", "nnapi")
    page.locator("#form").get_by_label("Android version").select_option("11")
    page.locator("#panel .command", has_text="--android=11").wait_for()
    assert opened.report().inner_text(".headline").startswith("NNAPI on Android 11")
    assert page.inner_text("#panel .command") == (
        "delegate-sim report transformer_block.tflite --delegate nnapi --android=11 -o report.html"
    )
    assert page.url.endswith("#delegate=nnapi&runtime=litert-2.3&defaults=benchmark&android=11")
    assert page.locator("tr.current").get_attribute("data-delegate") == "nnapi"


def test_the_table_and_the_feature_level_follow_the_android_version(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    page.select_option("#delegate", "nnapi")
    level = page.locator("#form").get_by_label(re.compile("^Feature level"))
    assert level.locator("option:checked").text_content() == "1000008, the highest of Android 13"
    page.select_option("#android", "11")
    opened.idle()
    assert "Android 11" in row_of(page, "nnapi").inner_text()
    assert "56 of 63" in row_of(page, "nnapi").inner_text()
    assert level.locator("option:checked").text_content() == "30, the highest of Android 11"
    assert level.locator("option:not(:disabled)").count() == 4
    page.click("#tab-download")
    with page.expect_download() as expected:
        page.get_by_role("button", name="Analysis with every node (JSON)").click()
    assert expected.value.suggested_filename == "transformer_block.nnapi.android11.json"
    run = json.loads(expected.value.path().read_text(encoding="utf-8"))["runs"][0]
    assert (run["effective_feature_level"], run["subgraphs"][0]["nodes_delegated"]) == (30, 56)
    page.select_option("#android", "13")
    opened.idle()
    assert "57 of 63" in row_of(page, "nnapi").inner_text()


def test_the_table_gives_the_reason_that_the_command_line_gives(opened):
    opened.choose(BLOCK)
    opened.idle()
    text = opened.page.locator("#overview-text pre").text_content()
    for delegate in ("gpu", "coreml", "xnnpack"):
        op = re.search(rf"^ +{delegate} .*  (\w+) \d+:", text.partition("main blocker")[2], re.MULTILINE)[1]
        assert row_of(opened.page, delegate).locator(".reason").inner_text().startswith(op)


def test_the_result_follows_the_model_the_release_and_the_options(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    page.select_option("#delegate", "gpu")
    page.click("#tab-diagnose")
    opened.idle()
    assert page.inner_text("#panel .headline").startswith("62 of 63 nodes delegated")
    page.locator("summary", has_text="More options").click()
    page.get_by_label("Max delegated partitions").fill("9")
    page.get_by_label("Max delegated partitions").press("Enter")
    page.locator("#panel .command", has_text="--max-delegated-partitions=9").wait_for()
    opened.choose(MOBILENET)
    page.locator("#panel .command", has_text="mobilenet_block.tflite").wait_for()
    page.select_option("#release", "tf-2.15")
    page.locator("#panel .command", has_text="--runtime tf-2.15").wait_for()
    page.locator("summary", has_text="More options").click()


def test_diagnosis_and_plan_are_those_of_the_command_line(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    page.select_option("#delegate", "nnapi")
    page.click("#tab-diagnose")
    opened.idle()
    assert "operator-version:FULLY_CONNECTED:9 (nnapi-operator-version)" in page.inner_text("#panel .result")
    page.click("#tab-fix")
    opened.idle()
    assert "1. own-versions (exact), 6 nodes" in page.inner_text("#panel .result")
    assert "in the browser" in page.inner_text("#panel")
    assert page.locator("#panel .command").last.inner_text() == (
        "delegate-sim fix transformer_block.tflite --delegate nnapi -o fixed.tflite"
    )


def test_a_diagnosis_lists_the_nodes_that_compute_wrong_numbers(opened):
    opened.choose(MOBILENET)
    opened.idle()
    page = opened.page
    page.select_option("#delegate", "teflon")
    page.click("#tab-diagnose")
    opened.idle()
    (run,) = delegate_sim.diagnose(str(MOBILENET), "teflon").to_dict()["number_risks"][:1]
    assert f"{run['code']}: {run['op']} {run['node']} {run['certainty']}: {run['message']}" in page.inner_text("#panel .result")


def test_several_models_have_a_verdict_each_and_are_compared(opened):
    opened.choose(BLOCK, MOBILENET)
    opened.idle()
    page = opened.page
    assert page.locator("#model-list .model").all_inner_texts() == ["transformer_block.tflite", "mobilenet_block.tflite"]
    assert all("of nodes" in verdict for verdict in page.locator("#model-list .verdict").all_inner_texts())
    page.select_option("#delegate", "nnapi")
    page.click("#tab-compare")
    opened.idle()
    assert page.inner_text("#panel .headline").startswith("B is better: ")
    assert page.locator(".compared thead th").all_inner_texts()[:2] == [
        "A: transformer_block.tflite",
        "B: mobilenet_block.tflite",
    ]
    assert "Only in A: " in page.inner_text("#panel .result")
    frame = opened.report()
    assert frame.locator("#shown option").count() == 2
    assert frame.locator("#beside option:checked").inner_text().startswith("mobilenet_block")
    page.get_by_role("button", name="Swap A and B").click()
    opened.idle()
    assert page.inner_text("#panel .headline").startswith("A is better: ")
    page.get_by_role("button", name="Swap A and B").click()
    page.select_option("#other", "delegate gpu")
    opened.idle()
    assert "B: gpu" in page.inner_text(".compared")
    assert "Delegated in A, on the CPU in B: 1 node\nGATHER: 1 node (0)" in page.inner_text("#panel .result")
    page.get_by_role("button", name="mobilenet_block.tflite", exact=True).click()
    opened.idle()
    assert "93.3 %" in page.inner_text("#headline")


def test_a_second_file_is_compared_with_the_first_at_once(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    page.select_option("#delegate", "nnapi")
    page.click("#tab-compare")
    opened.choose(MOBILENET)
    page.locator(".compared").wait_for()
    opened.idle()
    assert page.inner_text("#panel .command >> nth=0") == (
        "delegate-sim compare transformer_block.tflite mobilenet_block.tflite --delegate nnapi"
    )


@pytest.mark.parametrize(
    ("name", "content", "members"),
    [
        ("a.task", zip_bytes({"m.tflite": MODEL}), ["a.task!/m.tflite"]),
        ("a.apk", zip_bytes({"assets/m.tflite": MODEL, "classes.dex": b"dex"}, zipfile.ZIP_DEFLATED), ["a.apk!/assets/m.tflite"]),
        ("a.zip", zip_bytes({"x/1.tflite": MODEL, "x/2.tflite": MODEL}), ["a.zip!/x/1.tflite", "a.zip!/x/2.tflite"]),
        ("a.litertlm", litertlm_bytes([(3, "decoder", MODEL)]), ["a.litertlm (whole bundle)", "a.litertlm!/decoder"]),
    ],
)
def test_models_of_bundles_are_found(opened, name, content, members):
    opened.drop((name, content))
    opened.idle()
    page = opened.page
    assert page.locator("#model-list .model").all_inner_texts() == members
    if len(members) > 1 and name.endswith("litertlm"):
        assert page.inner_text("#headline") == "LiteRT-LM generates tokens on no backend"
    page.locator("#model-list .model").last.click()
    opened.idle()
    assert "run 98.4 %" in page.inner_text("#headline")


def test_results_are_downloaded(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    page.select_option("#delegate", "nnapi")
    page.click("#tab-download")
    contents = {}
    for button in page.locator("#panel li > button").all():
        with page.expect_download() as expected:
            button.click()
        download = expected.value
        contents[download.suggested_filename.partition(".nnapi.")[2]] = download.path().read_text(encoding="utf-8")
    assert contents.keys() == {"html", "json", "sarif", "diagnosis.json"}
    assert contents["html"].startswith("<!doctype html>")
    report = json.loads(contents["json"])
    assert report["model"]["path"] == "transformer_block.tflite"
    assert report["runs"][0]["subgraphs"][0]["nodes_delegated"] == 57
    assert json.loads(contents["sarif"])["version"] == "2.1.0"
    assert "operator-version:FULLY_CONNECTED:9" in contents["diagnosis.json"]


def test_a_file_that_is_no_model_is_one_clear_line(opened):
    opened.drop(("notes.tflite", b"not a model"))
    opened.idle()
    assert "notes.tflite" in opened.page.inner_text("#problem")
    assert "Traceback" not in opened.page.inner_text("body")
    opened.drop(("empty.zip", zip_bytes({"readme": b""})))
    opened.idle()
    assert opened.page.locator("#overview").is_hidden()


def test_a_file_that_is_no_model_leaves_the_results_of_the_others(opened):
    opened.choose(BLOCK)
    opened.idle()
    opened.drop(("notes.tflite", b"not a model"))
    opened.idle()
    page = opened.page
    assert "98.4 %" in page.inner_text("#headline")
    assert "notes.tflite" in page.inner_text("#model-list .bad")
    assert page.get_attribute("#model-list .model >> nth=0", "aria-pressed") == "true"


def test_a_model_that_needs_numpy_is_one_clear_line_and_the_rest_works(opened):
    opened.choose(MODELS / "slicing.tflite", BLOCK)
    opened.idle()
    page = opened.page
    assert page.locator("#model-list .verdict").first.inner_text() == (
        "error: slicing.tflite: this model needs the package numpy, which is not installed. "
        "This page comes without numpy. Install delegate-sim, and use its command line for this model."
    )
    assert "98.4 %" in page.inner_text("#headline")


def test_a_plan_without_numpy_says_that_the_command_line_tries_more(opened):
    opened.drop(("no_bias.tflite", convolution_without_bias()))
    opened.idle()
    page = opened.page
    page.select_option("#delegate", "nnapi")
    page.click("#tab-fix")
    opened.idle()
    assert "No tried pass" in page.inner_text("#panel .result")
    assert "no numpy" in page.inner_text("#panel")
    assert page.inner_text("#panel .command >> nth=0") == "delegate-sim fix no_bias.tflite --plan --delegate nnapi"


def test_numpy_is_loaded_from_the_host_of_the_page(application, tmp_path, system_chromium):
    # A package of this name stands for numpy, which only Pyodide's own distribution has.
    folder = tmp_path / "application"
    shutil.copytree(application, folder)
    lock = folder / "pyodide" / "pyodide-lock.json"
    packages = json.loads(lock.read_text(encoding="utf-8"))
    entry = packages["packages"]["numpy"]
    metadata = {f"numpy-{entry['version']}.dist-info/METADATA": b"Name: numpy\n", "numpy/__init__.py": b"bool_ = bool\n"}
    wheel = folder / "pyodide" / entry["file_name"]
    wheel.write_bytes(zip_bytes(metadata))
    entry["sha256"] = hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock.write_text(json.dumps(packages), encoding="utf-8")
    listed = folder / "files.json"
    listed.write_text(json.dumps({**json.loads(listed.read_text(encoding="utf-8")), "numpy": True}), encoding="utf-8")
    with served(folder) as (address, requests):
        context = system_chromium.new_context(service_workers="block")
        opened = Visit(context, address).start()
        assert not [path for path in requests if "numpy" in path]
        opened.choose(MODELS / "slicing.tflite")
        opened.idle()
        assert opened.worker.evaluate("'numpy' in pyodide.loadedPackages")
        assert opened.outside == []
        context.close()


@pytest.mark.parametrize("snapshot", [b"", gzip.compress(bytes(1 << 16))], ids=["empty", "of something else"])
def test_python_starts_without_a_usable_snapshot(application, tmp_path, system_chromium, snapshot):
    folder = tmp_path / "application"
    shutil.copytree(application, folder)
    (folder / "snapshot.bin").write_bytes(snapshot)
    with served(folder) as (address, _):
        context = system_chromium.new_context(service_workers="block")
        opened = Visit(context, address).start()
        assert any(text.startswith("Python starts without its snapshot, because ") for text in opened.wrong)
        opened.choose(MODELS / "mobilenet_block.tflite")
        opened.idle()
        assert "93.3 %" in opened.page.inner_text("#headline")
        context.close()


def test_names_of_hostile_models_are_text(opened):
    name = "<img src=x onerror=window.hit=9>.tflite"
    opened.drop((name, hostile_model().bytes()), ("--help.tflite", MODEL))
    opened.idle()
    page = opened.page
    assert page.locator("#model-list .model").first.inner_text() == name
    row_of(page, "nnapi").get_by_role("button").click()
    frame = opened.report()
    for tab in ("diagnose", "compare", "download"):
        page.click(f"#tab-{tab}")
        opened.idle()
    assert page.evaluate("window.hit") is None
    assert frame.is_detached() or frame.evaluate("window.hit") is None
    assert page.locator("main script, main img:not(#card img)").count() == 0
    assert NAMES[0].partition("=")[0] not in page.inner_html("#overview-table")


def test_a_canceled_simulation_ends_and_the_page_goes_on(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    opened.worker.evaluate("setTimeout(() => { for (;;); }, 0); 0")
    page.click("#tab-diagnose")
    page.locator("#panel").scroll_into_view_if_needed()
    assert page.evaluate("document.getElementById('cancel').getBoundingClientRect().top >= 0")
    assert page.inner_text("#panel") == "Diagnosing transformer_block.tflite ..."
    page.click("#cancel")
    page.get_by_role("button", name="Start again").click()
    opened.idle()
    assert page.inner_text("#panel .headline").startswith("57 of 63 nodes delegated")


def test_a_canceled_first_simulation_can_be_started_again(opened):
    page = opened.page
    opened.idle()
    opened.worker.evaluate("setTimeout(() => { for (;;); }, 0); 0")
    opened.choose(BLOCK)
    page.click("#cancel")
    opened.choose(MOBILENET)
    opened.idle()
    opened.worker.evaluate("setTimeout(() => { for (;;); }, 0); 0")
    page.select_option("#android", "10")
    page.click("#cancel")
    page.get_by_role("button", name="Simulate all targets").click()
    opened.idle()
    assert "93.3 %" in page.inner_text("#headline")
    assert page.locator("#missing").is_hidden()
    page.select_option("#android", "13")
    opened.idle()


def test_a_worker_out_of_memory_is_replaced_and_the_page_goes_on(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    assert opened.worker.evaluate("""() => {
      try { pyodide.runPython("bytearray(1_900_000_000)"); } catch (fault) { return String(fault).includes("MemoryError"); }
    }""")
    # What breaks Pyodide itself, and not only a command, ends the worker.
    opened.worker.evaluate("() => { pyodide.toPy = () => { throw new RangeError('out of memory'); }; }")
    page.click("#tab-diagnose")
    page.get_by_text("needs more memory than this page may use").wait_for()
    page.click("#tab-diagnose")
    opened.idle()
    assert page.inner_text("#panel .headline").startswith("57 of 63 nodes delegated")


def test_a_large_file_is_read_by_slices(opened, tmp_path):
    path = tmp_path / "large.tflite"
    path.write_bytes(MODEL)
    with path.open("r+b") as file:
        file.truncate(500 << 20)
    memory = "pyodide._module.HEAP8.length"
    opened.idle()
    before = opened.worker.evaluate(memory)
    opened.choose(path)
    opened.idle()
    assert "98.4 %" in opened.page.inner_text("#headline")
    assert opened.worker.evaluate(memory) - before < 100_000_000


def test_a_link_restores_the_target_and_its_options(opened):
    page = opened.page
    settings = "delegate=gpu&runtime=tf-2.15&defaults=api&gpu_backend=opengl&excluded_ops=<b>&android=11&x=1"
    page.evaluate("settings => { location.hash = settings; }", settings)
    assert page.inner_text("#linked-target").startswith(
        "This link is for delegate-sim report MODEL --delegate gpu --runtime tf-2.15"
    )
    opened.choose(BLOCK)
    opened.idle()
    assert page.input_value("#android") == "11"
    page.click("#tab-report")
    opened.idle()
    command = "delegate-sim report transformer_block.tflite --delegate gpu --runtime tf-2.15 --defaults api"
    assert page.inner_text("#panel .command").startswith(f"{command} '--excluded-ops=<b>' --gpu-backend=opengl")
    assert page.input_value("#release") == "tf-2.15"
    page.evaluate("location.hash = '#delegate=../x&runtime=9&defaults=--help'")
    page.locator("#panel .command", has_text="--delegate mldrift -o").wait_for()
    assert page.input_value("#release") == "litert-2.3"


def test_options_stand_in_the_form_as_on_the_command_line(opened):
    opened.choose(BLOCK)
    opened.idle()
    page = opened.page
    page.select_option("#delegate", "npu-google")
    soc = page.locator("label", has_text=re.compile("^SoC")).locator("select")
    soc.select_option("Tensor_G4")
    page.get_by_role("button", name="Simulate").click()
    opened.idle()
    assert "--option soc=Tensor_G4" in page.inner_text("#panel .command")
    page.select_option("#delegate", "soc")
    soc.select_option(label="google:Tensor_G5 (Pixel 10, Pixel 10 Pro)")
    page.click("#tab-report")
    opened.idle()
    assert "delegate-sim analyze transformer_block.tflite --soc google:Tensor_G5" in page.inner_text("#panel .command")
    assert "npu" in page.inner_text("#panel .printed").lower()


def test_everything_is_reached_by_keyboard(opened):
    page = opened.page
    page.focus("#choose")
    with page.expect_file_chooser() as expected:
        page.keyboard.press("Enter")
    expected.value.set_files(BLOCK)
    opened.idle()
    page.focus("#overview-table tbody tr:nth-child(2) button")
    page.keyboard.press("Enter")
    opened.idle()
    assert opened.report().locator("#shown").inner_text().startswith("mldrift")
    page.focus("#tab-report")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-diagnose"
    page.keyboard.press("Enter")
    opened.idle()
    assert page.get_attribute("#tab-diagnose", "aria-selected") == "true"
    assert "GATHER" in page.inner_text("#panel .result")


@pytest.mark.parametrize(("width", "scheme"), [(400, "dark"), (1400, "light")])
def test_the_page_fits_and_keeps_nobody_out(opened, width, scheme):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="the package axe-playwright-python is not installed"
    )
    page = opened.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    try:
        for step in ("nothing", "diagnose", "fix", "compare", "download", "report"):
            if step == "diagnose":
                opened.choose(BLOCK, MOBILENET)
                opened.idle()
                page.locator("summary").all()[1].click()
            if step != "nothing":
                page.click(f"#tab-{step}")
                opened.idle()
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), step
            # The report is tested as a page of its own.
            found = axe.Axe().run(page, context={"exclude": [["iframe"]]})
            assert not found.response["violations"], found.generate_report()
    finally:
        page.set_viewport_size({"width": 1400, "height": 900})
        page.emulate_media(color_scheme="light")
