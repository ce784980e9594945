"""The meanings of errors that LiteRT-LM's engine prints. A meaning is found from the log alone, without the bundle."""

from __future__ import annotations

_MEANINGS = (
    (
        "model identifier 'RTLM'",
        "the file is a LiteRT-LM bundle, not a .tflite model: give the bundle to LiteRT-LM's engine, or extract a model",
    ),
    (
        "model identifier 'PK",
        "the file is a zip archive such as a .task bundle, not a .tflite model: give the archive to MediaPipe, or unpack it",
    ),
    (
        "Unsupported dispatch runtime version",
        "the dispatch library of the NPU's vendor is from another release than the runtime: take both from the same release",
    ),
    ("Unsupported backend", "this build of the engine does not have the backend"),
    ("Not recognized backend", "this build of the engine does not have the backend"),
    (
        "backend constraint mismatch",
        "the bundle does not allow this backend for the model: use a backend in its backend_constraint",
    ),
    ("Unsupported activation data type", "prefer_activation_type in the bundle names a type that the engine does not know"),
    ("Invalid magic number", "the file is not a LiteRT-LM bundle, or its download is damaged"),
    ("This reader doesn't support version", "the bundle has another format version: use a LiteRT-LM release that reads it"),
    ("Failed to read header", "the bundle is cut or damaged: download it again"),
    ("Invalid header end offset", "the bundle is damaged: download it again"),
    ("Unknown model type", "a section has a type that this release does not know: use a newer release, or take out the section"),
    ("Failed to parse LlmMetadata", "the bundle's metadata is damaged or of another format"),
    ("not found in the model.", "the bundle has no such section, or is truncated: download it again, or use another bundle"),
    ("No tokenizer found", "the bundle has no tokenizer, or it cannot be unpacked"),
    ("sentencepiece_processor", "the bundle's SentencePiece tokenizer is damaged"),
    ("Invalid flatbuffer", "a model in the bundle is damaged: download or export it again"),
    (
        "Failed to modify graph with delegate",
        "the backend could not be applied to a model; lines above say why, or name the operators that it refuses",
    ),
    ("Some ops are not accelerated", "the GPU does not take all nodes of an encoder: run this encoder on the CPU"),
    ("Failed to build TFL interpreter", "the runtime is older than the model: it has no kernel for an operator or its version"),
    ("Failed to allocate tensors", "the CPU cannot prepare a node, such as an operator that is not registered"),
    ("No KV cache inputs found", "inputs of the prefill signature are not named kv_cache_k_0, kv_cache_v_0 and so on"),
    ("No cache input tensor found", "the prefill signature lacks inputs for a part of the cache"),
    ("Signature not found", "a model lacks a signature that the backend needs: decode, prefill_N, or those of an NPU bundle"),
    ("Selected signatures must include", "the model lacks the signature decode, or a signature that begins with prefill"),
    ("Input tokens or embeddings not found", "the decode signature has neither tokens nor embeddings as an input"),
    ("Output logits not found", "the decode signature has no output named logits"),
    ("Output logits must be", "the logits do not have three dimensions (batch, sequence, vocabulary)"),
    ("No embeddings found", "the model reads embeddings, but the bundle's embedder is missing or damaged"),
    ("No per-layer embeddings found", "the model reads per-layer embeddings, but their embedder is missing or damaged"),
    ("Input token ids are too long", "the prompt is longer than the context, which the last dimension of the mask gives"),
    ("Chosen prefill work group size exceeds", "a prefill signature is longer than the cache"),
    ("Cannot auto-resize tensor", "a cache has a fixed size in the model, and the engine needs another size"),
    ("only supports CPU backend", "a model with dynamic shapes runs only on the CPU: export it with fixed shapes"),
    ("Stop tokens are required", "the bundle's metadata has no stop tokens, and the application gives none"),
    ("Cache directory does not exist", "the engine cannot write to this cache folder"),
    ("No adapters found", "this device has no GPU adapter that the engine can use"),
    ("might not have enough padding", "a section cannot be mapped: pad the file to a multiple of 4096 bytes"),
    ("Failed to get metadata", "the section has no metadata of a GPU_ARTISAN model: use the bundle with another backend"),
    ("Failed to register input tensor buffer", "an input of a model has another size than the engine's buffer"),
    ("Unsupported external weights type", "the GPU cannot build EMBEDDING_LOOKUP of a float table; the process ends"),
    ("Failed to create engine", "LiteRT-LM's engine cannot be created; this line and the lines around it say why"),
    ("Failed to create session", "the engine was created, but its session was not; the rest of this line says why"),
    ("Failed to create conversation", "the engine was created, but its conversation was not; lines before this line say why"),
    ("Failed to run prefill", "the engine cannot read the prompt; the rest of this line says why"),
    ("Failed to run decode", "the engine cannot generate tokens; the rest of this line says why"),
)
"""Pairs of words and a meaning. The first pair whose words are in the error is used."""


def engine_meaning(line: str) -> str:
    """Return the meaning of an error of the engine; empty if it is unknown."""
    return next((meaning for words, meaning in _MEANINGS if words in line), "")
