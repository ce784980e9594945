"""Convert small decoders with random weights and write them as bundles: ``python tools/language_models/convert.py FOLDER``.

Every decoder has two layers, signatures for the prompt (``prefill_16``) and for single tokens (``decode``), and caches as inputs
and outputs. litert-torch converts them in two ways:

- Its examples (``litert_torch.generative.examples``) with small sizes. Each model is written as ``.tflite``, as ``.litertlm`` by
  litert-lm-builder and as ``.task`` (an uncompressed zip file).
- Its exporter of Transformers models (``litert_torch.generative.export_hf``), with and without composites for the GPU, and with
  the embedder inside or outside the decoder. The exporter writes ``.litertlm``.

This program needs litert-torch, litert-lm-builder, sentencepiece, tensorflow and transformers, and nothing of this repository.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

CONTEXT, PREFILL = 64, 16
_VOCABULARY = 256
_QUANTIZATIONS = ("none", "dynamic_int8", "dynamic_int4_block32")
_RECIPES = ("", "dynamic_wi8_afp32", "dynamic_wi4_afp32")
_WITH_COMPOSITES = ("qwen2",)
"""The models to export with composites. In these sizes, the exporter cannot trace models with normalized queries and keys."""
_TRANSFORMERS = {"qwen2": ("Qwen2Config", "Qwen2ForCausalLM"), "gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM")}


def decoders() -> Iterator[tuple[str, str, Callable[[], Any]]]:
    """Yield the name of each decoder, the model type for LiteRT-LM, and a function that makes the decoder."""
    yield "qwen2", "qwen2p5", _qwen2
    yield "qwen3", "qwen3", _qwen3
    yield "gemma3", "gemma3", _gemma3
    yield "llama", "generic", _llama


def _small(config: Any) -> Any:
    """Shrink a configuration to two layers that fit int4 blocks of 32 weights."""
    config.vocab_size, config.num_layers, config.max_seq_len, config.embedding_dim = _VOCABULARY, 2, CONTEXT, 64
    if config.embedding_scale is not None:
        config.embedding_scale = config.embedding_dim**0.5
    blocks = config.block_configs if isinstance(config.block_configs, list) else [config.block_configs]
    for block in blocks[:2]:
        block.attn_config.num_heads, block.attn_config.head_dim, block.attn_config.num_query_groups = 4, 32, 2
        if block.attn_config.sliding_window_size is not None:
            block.attn_config.sliding_window_size = CONTEXT // 4
        block.ff_config.intermediate_size = 128
    if isinstance(config.block_configs, list):
        config.block_configs = blocks[:2]
    return config


def _qwen2() -> Any:
    from litert_torch.generative.examples.qwen import qwen

    return qwen.Qwen(_small(qwen.get_fake_model_config()))


def _qwen3() -> Any:
    from litert_torch.generative.examples.qwen import qwen3

    return qwen3.Qwen3(_small(qwen3.get_fake_model_config()))


def _gemma3() -> Any:
    from litert_torch.generative.examples.gemma3 import decoder

    return decoder.Decoder(_small(decoder.get_fake_decoder_config_1b()))


def _llama() -> Any:
    from litert_torch.generative.examples.llama import llama

    return llama.Llama(_small(llama.get_fake_model_config()))


def _sentences() -> list[str]:
    numbers = random.Random(1)
    words = ["".join(numbers.choices("abcdefghijklmnopqrstuvwxyz", k=numbers.randint(2, 7))) for _ in range(400)]
    return ["Hello " + " ".join(numbers.choices(words, k=8)) for _ in range(500)]


def write_tokenizer(folder: Path) -> Path:
    """Train a SentencePiece tokenizer on random words, and return its file."""
    import sentencepiece

    text = folder / "words.txt"
    text.write_text("".join([f"{sentence}\n" for sentence in _sentences()]), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.Train(
        input=str(text), model_prefix=str(folder / "tokenizer"), vocab_size=_VOCABULARY, minloglevel=2
    )
    return folder / "tokenizer.model"


def convert(folder: Path, only: str) -> None:
    """Write all decoders in all quantizations, with and without transposed caches."""
    import torch
    from litert_torch.generative.layers import kv_cache
    from litert_torch.generative.utilities import converter, export_config, litertlm_builder

    with tempfile.TemporaryDirectory() as workspace:
        tokenizer = write_tokenizer(Path(workspace))
        for name, model_type, make in decoders():
            for layout in ("default", "transposed"):
                for quantization in _QUANTIZATIONS:
                    stem = f"{name}_{layout}_{quantization}"
                    if only not in stem:
                        continue
                    torch.manual_seed(1)
                    model = make().eval()
                    for parameter in model.parameters():
                        torch.nn.init.normal_(parameter, std=0.1)  # also the row of the padding, which is zero otherwise
                    config = export_config.ExportConfig(mask_as_input=True)
                    if layout == "transposed":
                        config.kvcache_layout = kv_cache.KV_LAYOUT_TRANSPOSED
                    converted = converter.convert_to_tflite(
                        model,
                        workspace,
                        stem,
                        [PREFILL],
                        CONTEXT,
                        quantize=quantization,
                        config=model.config,
                        export_config=config,
                    )
                    file = Path(converted).rename(folder / f"{stem}.tflite")
                    litertlm_builder.build_litertlm(
                        str(file),
                        workspace,
                        str(folder),
                        CONTEXT,
                        tokenizer_model_path=str(tokenizer),
                        stop_token_ids=[2],
                        llm_model_type=model_type,
                    )
                    write_task(folder / f"{stem}.task", {"TF_LITE_PREFILL_DECODE": file, "TOKENIZER_MODEL": tokenizer})
                    print(stem, file.stat().st_size, flush=True)


def export(folder: Path, only: str) -> None:
    """Write Transformers models in all quantizations, with and without composites, and with both places of the embedder."""
    from litert_torch.generative.export_hf import export as exporter

    for name in _TRANSFORMERS:
        with tempfile.TemporaryDirectory() as workspace:
            is_saved = False
            with_composites = (False, True) if name in _WITH_COMPOSITES else (False,)
            for recipe, composites, embedder in itertools.product(_RECIPES, with_composites, (False, True)):
                parts = (recipe or "none", "composites" if composites else "plain", "embedder" if embedder else "whole")
                stem = "_".join([f"{name}-exported", *parts])
                if only not in stem:
                    continue
                if not is_saved:
                    _save_transformer(name, Path(workspace, "source"))
                    is_saved = True
                exporter.export(
                    model=str(Path(workspace, "source")),
                    output_dir=str(Path(workspace, stem)),
                    prefill_lengths=[PREFILL],
                    cache_length=CONTEXT,
                    quantization_recipe=recipe,
                    apply_gpu_composites=composites,
                    externalize_embedder=embedder,
                )
                file = Path(workspace, stem, "model.litertlm").rename(folder / f"{stem}.litertlm")
                print(stem, file.stat().st_size, flush=True)


def _save_transformer(name: str, folder: Path) -> None:
    """Save a model with random weights and a tokenizer of byte pairs."""
    import tokenizers
    import torch
    import transformers

    config, kind = [getattr(transformers, part) for part in _TRANSFORMERS[name]]
    torch.manual_seed(1)
    sizes = {"vocab_size": 2 * _VOCABULARY, "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "head_dim": 32}
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    model = kind(config(**sizes, **tokens, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2 * CONTEXT))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    model.save_pretrained(folder)
    pairs = tokenizers.Tokenizer(tokenizers.models.BPE())
    pairs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    pairs.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=2 * _VOCABULARY,
        special_tokens=["<pad>", "<s>", "</s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    pairs.train_from_iterator(_sentences(), trainer)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=pairs,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        chat_template="{% for message in messages %}{{ message['content'] }}{% endfor %}",
    ).save_pretrained(folder)


def write_task(path: Path, members: dict[str, Path]) -> None:
    """Write files as the uncompressed members of a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, file in members.items():
            archive.write(file, name)


def main() -> int:
    """Convert the decoders whose names contain a word."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="convert only the models whose name contains this word")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    convert(arguments.folder, arguments.only)
    export(arguments.folder, arguments.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
