"""An environment with a converter that does what the name of the source file says."""

import os
import sys
import venv
import zipfile
from pathlib import Path

TENSORFLOW = """
import os, signal, subprocess, sys, time
from types import SimpleNamespace as Space

MODEL = b"\\x1c\\0\\0\\0TFL3" + b"\\0" * 24


def _load(path, compile=True, safe_mode=True):
    return Space(path=path, inputs=[Space(name="x", shape=(None, 4), dtype="float32")])


class _Converter:
    def __init__(self, model):
        self.model = model
        self.target_spec = Space()

    def convert(self):
        note = os.environ.get("FAKE_NOTE")
        if note:
            with open(note, "a") as file:
                file.write(f"{os.getpid()}\\n")
        name = os.path.splitext(os.path.basename(self.model.path))[0]
        return globals()[name](self)


def good(converter):
    print("converting")
    samples = getattr(converter, "representative_dataset", None)
    data = b"".join(array.tobytes() for sample in samples() for array in sample.values()) if samples else b""
    settings = sorted(name for name in vars(converter) if name not in ("model", "target_spec", "representative_dataset"))
    return MODEL + data + repr(settings).encode()


def crashing(converter):
    os.kill(os.getpid(), signal.SIGSEGV)


def hanging(converter):
    subprocess.Popen([sys.executable, "-c", "import os, time; os.setsid(); time.sleep(600)", "straggler"])
    time.sleep(600)


def chatting(converter):
    while True:
        sys.stdout.write("x" * 65536)


def greedy(converter):
    held = []
    while True:
        held.append(bytearray(os.urandom(1 << 20)))


def writing(converter):
    with open("huge", "wb") as file:
        while True:
            file.write(bytes(1 << 20))


def failing(converter):
    print("\\x1b[31mfirst line\\x1b[0m")
    raise ValueError("cannot convert \\x1b[31m" + "y" * 1000)


def quiet(converter):
    sys.exit(3)


def strange(converter):
    return b"no model"


keras = Space(models=Space(load_model=_load))
lite = Space(
    TFLiteConverter=Space(from_keras_model=_Converter),
    Optimize=Space(DEFAULT=1),
    OpsSet=Space(TFLITE_BUILTINS_INT8=1, EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8=2),
)
float16, int8, int16 = range(3)


def as_dtype(name):
    import numpy
    return Space(as_numpy_dtype=numpy.dtype(name).type)
"""


def make_environment(folder):
    """Make a virtual environment with the fake TensorFlow, and numpy as this one has it; return its interpreter."""
    python, packages = _empty_environment(folder)
    (packages / "tensorflow").mkdir()
    (packages / "tensorflow" / "__init__.py").write_text(TENSORFLOW)
    _describe(packages, "tensorflow", "9.9.1")
    import numpy

    (packages / "beside.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
    return python


def make_environment_of(folder, versions):
    """Make a virtual environment in which packages of these versions seem to be installed; return its interpreter."""
    python, packages = _empty_environment(folder)
    for name, version in versions.items():
        _describe(packages, name, version)
    return python


def _empty_environment(folder):
    venv.EnvBuilder(symlinks=os.name == "posix").create(folder)
    [packages] = Path(folder).glob("[Ll]ib*/**/site-packages") if os.name == "nt" else Path(folder).glob("lib/*/site-packages")
    return str(Path(folder) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")), packages


def _describe(packages, name, version):
    info = packages / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def make_source(folder, name):
    """Write what passes for a Keras file."""
    path = Path(folder) / f"{name}.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo("config.json"), "{}")
    return str(path)


def processes_with(word):
    """The processes whose command line has a word."""
    if not sys.platform.startswith("linux"):
        return []
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found
