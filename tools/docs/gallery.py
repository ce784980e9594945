"""The cards of the site: of the public models in the gallery (``make screenshots``), and of the example on the first page.

The browser application has the same example and its card as HTML.
"""

from __future__ import annotations

import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from delegate_sim.api.arguments import target_of
from delegate_sim.api.load import load
from delegate_sim.delegates.registry import DELEGATE_NAMES
from delegate_sim.page.card import card_of
from delegate_sim.page.card_picture import CardPlace, card_list, card_picture
from delegate_sim.runtime.interpreter import simulate
from delegate_sim_cli.main import program

from .browser import ROOT

CARDS = ROOT / "docs" / "pictures" / "gallery"
EXAMPLE = ROOT / "fixtures" / "models" / "transformer_block.tflite"
CARD_STYLE = ROOT / "tools" / "docs" / "theme" / "card.css"
_CORPUS = ROOT.parent / "shared" / "corpus" / "real.zip"


_HEAD = """\
# Gallery

These are the cards of ten public models, as `delegate-sim analyze MODEL --format card` writes them. Each row is a target. Solid
parts run on the target, and hatched parts stay on the CPU. Each model is in a repository with the license Apache-2.0.
"""


@dataclass(frozen=True)
class GalleryModel:
    """A public model: its repository on GitHub, its name, and what it does. The repositories are licensed under Apache-2.0."""

    repository: str
    name: str
    about: str


MODELS = (
    GalleryModel("google/mediapipe", "palm_detection_lite", "finds hands"),
    GalleryModel("google/mediapipe", "face_landmark", "finds points of a face"),
    GalleryModel("google/mediapipe", "selfie_segmentation", "separates a person from the background"),
    GalleryModel("tensorflow/tflite-support", "deeplabv3", "names the object of each pixel"),
    GalleryModel("tensorflow/tflite-support", "mobilenet_v2_1.0_224_quant", "classifies pictures, in 8 bits"),
    GalleryModel("google-coral/test_data", "movenet_single_pose_lightning_ptq", "finds the pose of a person, in 8 bits"),
    GalleryModel("google/lyra", "soundstream_encoder", "encodes speech"),
    GalleryModel("spotify/basic-pitch", "nmp", "writes down the notes of music"),
    GalleryModel("mlcommons/tiny", "kws_ref_model", "recognizes spoken words, in 8 bits"),
    GalleryModel("esphome/micro-wake-word-models", "hey_jarvis-a9bb3544", "waits for a spoken name, in 8 bits"),
)


def draw() -> list[Path]:
    """Draw the cards, and return their paths. Raises RuntimeError where the models are not."""
    if not _CORPUS.exists():
        raise RuntimeError(f"the public models are not here ({_CORPUS})")
    CARDS.mkdir(exist_ok=True)
    with zipfile.ZipFile(_CORPUS) as archive, tempfile.TemporaryDirectory() as folder:
        entries = {model.name: f"{model.repository.replace('/', '+')}/{model.name}.tflite" for model in MODELS}
        return [_card(archive.read(entry), name, Path(folder)) for name, entry in entries.items()]


def _card(content: bytes, name: str, folder: Path) -> Path:
    model, card = folder / f"{name}.tflite", CARDS / f"{name}.svg"
    model.write_bytes(content)
    done = CliRunner().invoke(program, ["analyze", str(model), "--format", "card", "--force", "-o", str(card)])
    if done.exit_code > 1:
        raise RuntimeError(done.output)
    return card


def cards() -> str:
    """Return the page with the cards, as Markdown."""
    return "\n".join([_HEAD, '<ul class="gallery">', *map(_shown, MODELS), "</ul>", ""])


def _shown(model: GalleryModel) -> str:
    source = f'<a href="https://github.com/{model.repository}">{model.repository}</a>'
    picture = f'<img loading="lazy" src="../pictures/gallery/{model.name}.svg" alt="The card of {model.name}">'
    return f"<li>{picture}<br><b>{model.name}</b> of {source} {model.about}.</li>"


def example_card() -> str:
    """Return the card of the example on all targets: a picture, and a list for narrow screens. Both need ``CARD_STYLE``."""
    model = load(EXAMPLE)
    card = card_of(model, [simulate(model, target_of(name, {}, None, "benchmark")) for name in DELEGATE_NAMES])
    place = CardPlace(0, frozenset(), has_patterns=True)
    return f'<div class="cards">{card_list(card, place)}{card_picture(card, place).strip()}</div>'
