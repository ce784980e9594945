from __future__ import annotations

import zipfile
from dataclasses import replace

import pytest

import delegate_sim.apps.app as app_module
from delegate_sim.apps.app import is_app, read_app
from delegate_sim.apps.manifest import CODES, HTP_VERSIONS, NEEDS
from delegate_sim.delegates.devices import SOCS
from delegate_sim.delegates.registry import find_live
from delegate_sim.errors import ModelError
from fixtures.bundles import LIBRARIES, aab, aar, apk, manifest, zip_bytes
from tests.support.delegates.npu_models import compiled
from tests.support.models import chain_model

SOURCE = chain_model(["RELU"]).bytes()
QUALCOMM = {"m.tflite": compiled("Qualcomm", "SM8750").bytes()}
LITERT = ("libLiteRt.so", "libLiteRtClGlAccelerator.so")
LITERT_DECLARED = ("libOpenCL.so", "libcdsprpc.so", "libedgetpu_litert.so", "libneuron_adapter_mgvi.so")
NPU_ABSENT = {f"npu-{vendor}": "absent" for vendor in ("qualcomm", "mediatek", "google", "samsung")}


def without(*names, of=LIBRARIES):
    assert set(names) <= set(of)
    return [name for name in of if name not in names]


@pytest.fixture
def read(tmp_path):
    def read(content, name="app.apk"):
        (tmp_path / name).write_bytes(content)
        return read_app(str(tmp_path / name))

    return read


def missing(app, target):
    """The code, the state and the needed names of what a target lacks."""
    own = [one for one in app.targets if one.target == target]
    return [(need.code, need.state, *need.needed) for one in own for need in one.missing]


def states(app):
    return {target.target: target.state for target in app.targets}


DISPATCH = "libLiteRtDispatch_Qualcomm.so"
EXTRACTED = ("app-extracted-libraries", "missing", 'extractNativeLibs="true"')


@pytest.mark.parametrize(
    ("content", "target", "lacks"),
    [
        pytest.param(apk(), "npu-qualcomm", [], id="complete"),
        pytest.param(apk(), "mldrift", [], id="complete, GPU"),
        pytest.param(
            apk(without(DISPATCH)), "npu-qualcomm", [("app-dispatch-library", "missing", DISPATCH)], id="no dispatch library"
        ),
        pytest.param(
            apk(elements=manifest(["libOpenCL.so"])),
            "npu-qualcomm",
            [("app-declared-library", "missing", "libcdsprpc.so")],
            id="not declared",
        ),
        pytest.param(
            apk(elements=manifest(["libcdsprpc.so"])),
            "mldrift",
            [("app-declared-library", "missing", "libOpenCL.so")],
            id="OpenCL not declared",
        ),
        pytest.param(apk(elements=manifest((), target_sdk=30)), "npu-qualcomm", [], id="Android 11 asks for no declaration"),
        pytest.param(apk(elements=manifest(extracts=False)), "npu-qualcomm", [EXTRACTED], id="not extracted"),
        pytest.param(apk(elements=manifest(extracts=None)), "npu-qualcomm", [], id="extracted by default"),
        pytest.param(
            apk(without("libQnnHtpV79Skel.so")),
            "npu-qualcomm",
            [("app-vendor-library", "missing", "libQnnHtpV79Skel.so")],
            id="half of a version",
        ),
        pytest.param(
            apk(without("libQnnHtpV79Stub.so", "libQnnHtpV79Skel.so")),
            "npu-qualcomm",
            [("app-vendor-library", "missing", "libQnnHtpV*Stub.so"), ("app-vendor-library", "missing", "libQnnHtpV*Skel.so")],
            id="no version",
        ),
        pytest.param(
            apk(without("libLiteRtCompilerPlugin_Qualcomm.so", "libQnnHtpPrepare.so"), QUALCOMM),
            "npu-qualcomm",
            [],
            id="compiled models need no compiler",
        ),
        pytest.param(
            apk(without("libLiteRtCompilerPlugin_Qualcomm.so"), {**QUALCOMM, "n.tflite": SOURCE}),
            "npu-qualcomm",
            [("app-compiler-plugin", "missing", "libLiteRtCompilerPlugin_Qualcomm.so")],
            id="one model is not compiled",
        ),
        pytest.param(
            apk(models={"m.tflite": compiled("Qualcomm", "SM8650").bytes()}),
            "npu-qualcomm",
            [("app-vendor-library", "missing", "libQnnHtpV75Stub.so"), ("app-vendor-library", "missing", "libQnnHtpV75Skel.so")],
            id="compiled for another version",
        ),
        pytest.param(
            apk(LITERT, {"m.tflite": compiled().bytes()}, manifest(LITERT_DECLARED)),
            "npu-google",
            [("app-dispatch-library", "missing", "libLiteRtDispatch_GoogleTensor.so")],
            id="compiled for Google, no dispatch library",
        ),
        pytest.param(
            apk([*LIBRARIES, "libLiteRtDispatch_GoogleTensor.so"]),
            "npu-qualcomm",
            [("app-one-dispatch-library", "conflict", DISPATCH)],
            id="two vendors in one directory",
        ),
        pytest.param(
            apk([*LITERT, "libLiteRtDispatch_MediaTek.so", "libLiteRtCompilerPlugin_MediaTek.so", "libneuron_adapter.so"]),
            "npu-mediatek",
            [],
            id="MediaTek's library in the application",
        ),
        pytest.param(
            apk([*LITERT, "libLiteRtDispatch_MediaTek.so", "libLiteRtCompilerPlugin_MediaTek.so"]),
            "npu-mediatek",
            [
                (
                    *("app-declared-library", "missing", "libneuronusdk_adapter.mtk.so", "libneuronusdk_adapter.9.mtk.so"),
                    *("libneuron_adapter_mgvi.so", "libneuron_adapter.so"),
                )
            ],
            id="MediaTek's library neither there nor declared",
        ),
        pytest.param(
            apk(LIBRARIES, QUALCOMM, abis=("armeabi-v7a",)),
            "npu-qualcomm",
            [
                ("app-dispatch-library", "missing", DISPATCH),
                *[
                    ("app-vendor-library", "missing", f"libQnn{part}.so")
                    for part in ("Htp", "System", "HtpV79Stub", "HtpV79Skel")
                ],
            ],
            id="libraries of another ABI",
        ),
    ],
)
def test_what_a_target_lacks(read, content, target, lacks):
    app = read(content)
    assert missing(app, target) == lacks
    assert states(app)[target] == ("incomplete" if lacks else "complete")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # LiteRT's own package: its manifest has all declarations, and no library of an NPU.
        pytest.param(apk(LITERT, elements=manifest(LITERT_DECLARED)), {"mldrift": "complete", **NPU_ABSENT}, id="LiteRT"),
        pytest.param(apk(["libLiteRt.so"]), {"mldrift": "absent", **NPU_ABSENT}, id="no GPU accelerator"),
        pytest.param(apk(["liblitertlm_jni.so"]), {"mldrift": "not known", **NPU_ABSENT}, id="LiteRT-LM"),
        pytest.param(apk(["libtensorflowlite_jni.so"]), {"gpu": "absent"}, id="Interpreter"),
        pytest.param(
            apk(["libtensorflowlite_jni.so", "libtensorflowlite_gpu_jni.so"], elements=manifest(())),
            {"gpu": "incomplete"},
            id="Interpreter with GPU delegate, OpenCL not declared",
        ),
        pytest.param(apk(["libother.so"]), {}, id="another application"),
        pytest.param(
            apk([*LITERT, "libQnnHtp.so", "libQnnSystem.so", "libonnxruntime.so"]),
            {"mldrift": "complete", **NPU_ABSENT},
            id="Qualcomm's libraries for another runtime",
        ),
        pytest.param(
            apk([*LITERT, "libQnnHtp.so", "libQnnSystem.so"]),
            {"mldrift": "complete", **NPU_ABSENT, "npu-qualcomm": "incomplete"},
            id="Qualcomm's libraries for LiteRT",
        ),
    ],
)
def test_which_targets_an_application_means(read, content, expected):
    assert states(read(content)) == expected


def test_an_app_bundle_has_the_libraries_of_all_modules(read):
    runtime = [name for name in LIBRARIES if name not in LITERT and not name.startswith("liblitert")]
    app = read(aab({"base": LITERT, "qualcomm_runtime_v79": runtime}, uncompressed=False), "app.aab")
    assert (app.format, states(app)["npu-qualcomm"], app.not_checked) == ("aab", "complete", ("app-own-code", "app-system-image"))
    modules = {"base": LITERT, "qualcomm": runtime, "mediatek": ["libLiteRtDispatch_MediaTek.so"]}
    assert missing(read(aab(modules, uncompressed=False), "b.aab"), "npu-qualcomm") == []
    assert missing(read(aab(modules, uncompressed=True), "c.aab"), "npu-qualcomm") == [EXTRACTED]
    assert states(read(aab(modules), "d.aab"))["npu-qualcomm"] == "not known"


def test_a_library_for_applications(read):
    app = read(aar(LITERT), "litert.aar")
    assert (app.format, app.package, app.abis, app.not_checked[0]) == (
        "aar",
        "org.example.app",
        ("arm64-v8a",),
        "app-merged-manifest",
    )
    assert app.targets[0].needs[0].place == "jni/arm64-v8a"


def test_a_damaged_manifest_leaves_its_entries_open(read):
    files = {"AndroidManifest.xml": b"\x03\x00\x08\x00damaged", "lib/arm64-v8a/libLiteRt.so": b""}
    files |= {f"lib/arm64-v8a/{name}": b"" for name in LIBRARIES}
    app = read(zip_bytes(files))
    assert app.manifest_fault
    assert states(app)["npu-qualcomm"] == "not known"
    assert missing(app, "npu-qualcomm") == []


def test_models_of_an_application(read):
    app = read(apk(models={**QUALCOMM, "bad.tflite": SOURCE[:100], "n.tflite": SOURCE}))
    assert [(model.is_compiled, model.compiled_for, bool(model.fault)) for model in app.models] == [
        (True, "Qualcomm SM8750", False),
        (False, "", True),
        (False, "", False),
    ]


def test_an_archive_without_a_manifest_is_no_application(tmp_path):
    path = tmp_path / "a.apk"
    for content in (zip_bytes({"assets/m.tflite": SOURCE}), b"no archive", SOURCE):
        path.write_bytes(content)
        assert not is_app(str(path))
        with pytest.raises(ModelError):
            read_app(str(path))
    path.write_bytes(apk())
    assert is_app(str(path))
    assert not is_app(str(tmp_path / "none.apk"))


def test_a_manifest_that_is_too_large(read, monkeypatch):
    monkeypatch.setattr("delegate_sim.apps.app._MOST_MANIFEST", 50)
    assert "AndroidManifest.xml" in read(apk()).manifest_fault


def test_the_manifests_of_all_modules_share_a_limit(read, monkeypatch):
    text = f'<manifest package="a">{" " * 9_000}</manifest>'.encode()
    modules = {f"m{number}/manifest/AndroidManifest.xml": text for number in range(3)}
    content = zip_bytes({"BundleConfig.pb": b"", **modules}, zipfile.ZIP_DEFLATED)
    assert read(content, "a.aab").package == "a"
    monkeypatch.setattr("delegate_sim.bundles.member._ALWAYS", 20_000)
    monkeypatch.setattr("delegate_sim.bundles.member._RATIO", 1)
    assert "decompressed" in read(content, "b.aab").manifest_fault


def test_declared_libraries_are_not_gathered_for_each_abi(read, monkeypatch):
    class Counted(tuple):
        walks = 0

        def __iter__(self):
            Counted.walks += 1
            return super().__iter__()

    merged = app_module.merged
    monkeypatch.setattr(app_module, "merged", lambda own: replace(merged(own), libraries=Counted(merged(own).libraries)))
    walks = []
    for count in (1, 50):
        Counted.walks = 0
        assert states(read(apk(LITERT, abis=[f"abi{number}" for number in range(count)])))["mldrift"] == "complete"
        walks.append(Counted.walks)
    assert walks[0] == walks[1]


def test_rows_name_known_targets_and_codes():
    assert {need.code for need in NEEDS} < set(CODES)
    for need in NEEDS:
        find_live(need.target)


def test_versions_of_the_htp_are_those_of_listed_socs():
    known = [soc for socs in HTP_VERSIONS.values() for soc in socs]
    assert len(known) == len(set(known))
    assert {"SM8350", "SM8450", "SM8550", "SM8650", "SM8750", "SM8850"} <= set(SOCS["qualcomm"]) & set(known)
