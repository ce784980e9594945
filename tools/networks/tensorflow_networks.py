"""Draw networks with TensorFlow: ``python -m tools.networks.tensorflow_networks FOLDER [FIRST] COUNT``.

Each network is a chain of two to six blocks that are chosen at random among those of vision models, transformers, audio models
and code that computes with shapes and indices. Equal seeds give equal networks. Files that exist are not made again.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

Tensor = Any
Block = Callable[[random.Random, Tensor], Tensor]


def _weights(chance: random.Random, *shape: int) -> Tensor:
    generator = np.random.default_rng(chance.randrange(1 << 30))
    fan_in = max(int(np.prod(shape[:-1])), 1)
    return tf.constant((generator.standard_normal(shape) / fan_in**0.5).astype(np.float32))


def _activation(chance: random.Random, x: Tensor) -> Tensor:
    choices: tuple[Callable[[Tensor], Tensor], ...] = (
        tf.nn.relu, tf.nn.relu6, tf.nn.gelu, lambda v: tf.nn.gelu(v, approximate=True), tf.nn.silu, tf.nn.elu, tf.tanh,
        lambda v: tf.nn.leaky_relu(v, 0.2), lambda v: v * tf.nn.relu6(v + 3) / 6, tf.square, tf.negative, tf.nn.softplus,
    )  # fmt: skip
    return chance.choice(choices)(x)


# Blocks of images, of shape [1, height, width, channels].


def _conv(chance: random.Random, x: Tensor) -> Tensor:
    out = chance.choice((4, 6, 8))
    kernel = _weights(chance, chance.choice((1, 3)), chance.choice((1, 3)), x.shape[-1], out)
    y = tf.nn.conv2d(x, kernel, chance.choice((1, 2)), chance.choice(("SAME", "VALID")) if x.shape[1] > 4 else "SAME")
    return _activation(chance, y + _weights(chance, out))


def _depthwise(chance: random.Random, x: Tensor) -> Tensor:
    y = tf.nn.depthwise_conv2d(x, _weights(chance, 3, 3, x.shape[-1], 1), (1, 1, 1, 1), "SAME")
    return _activation(chance, y * _weights(chance, x.shape[-1]) + 0.1)


def _squeeze_excite(chance: random.Random, x: Tensor) -> Tensor:
    y = tf.reduce_mean(x, chance.choice(([1, 2], [2, 1], [-2, -3])), keepdims=True)
    gate = tf.sigmoid if chance.random() < 0.5 else lambda v: tf.nn.relu6(v + 3) / 6
    return x * gate(tf.matmul(tf.reshape(y, (1, x.shape[-1])), _weights(chance, x.shape[-1], x.shape[-1])))[:, None, None, :]


def _windows(chance: random.Random, x: Tensor) -> Tensor:
    """Cut an image into windows and put it together again, which takes five or six dimensions."""
    _, height, width, depth = x.shape
    x = x[:, : height // 2 * 2, : width // 2 * 2]
    y = tf.reshape(x, (1, height // 2, 2, width // 2, 2, depth))
    y = tf.transpose(y, (0, 1, 3, 2, 4, 5))
    if chance.random() < 0.5:
        y = tf.reshape(y, (-1, 4, depth))
        y = y + tf.matmul(tf.nn.softmax(tf.matmul(y, y, transpose_b=True)), y)
        y = tf.reshape(y, (1, height // 2, width // 2, 2, 2, depth))
    else:
        y = _activation(chance, y * _weights(chance, 2, 1, depth)[None, None, None])
    return tf.reshape(tf.transpose(y, (0, 1, 3, 2, 4, 5)), (1, height // 2 * 2, width // 2 * 2, depth))


def _shuffle(chance: random.Random, x: Tensor) -> Tensor:
    _, height, width, depth = x.shape
    groups = 2
    y = tf.reshape(x, (1, height, width, groups, depth // groups))
    y = tf.reshape(tf.transpose(y, (0, 1, 2, 4, 3)), (1, height, width, depth // groups * groups))
    return chance.choice((lambda v: v, tf.abs, tf.exp))(y)


def _channel_split(chance: random.Random, x: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half : 2 * half]
    if chance.random() < 0.5:
        first, second = tf.split(x[..., : 2 * half], 2, -1)
    return tf.concat((_activation(chance, second), first), -1)


def _group_norm(chance: random.Random, x: Tensor) -> Tensor:
    _, height, width, depth = x.shape
    y = tf.reshape(x, (1, height, width, 2, depth // 2)) if depth % 2 == 0 else tf.reshape(x, (1, height, width, 1, depth))
    mean = tf.reduce_mean(y, (1, 2, 4), keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(y, mean), (1, 2, 4), keepdims=True)
    return tf.reshape((y - mean) * tf.math.rsqrt(variance + 1e-3), x.shape) * _weights(chance, depth)


def _pad_roll(chance: random.Random, x: Tensor) -> Tensor:
    y = tf.roll(x, chance.choice((1, -1)), 1) if chance.random() < 0.5 else tf.concat((x[:, 1:], x[:, :1]), 1)
    return tf.pad(y, ((0, 0), (1, 0), (0, 1), (0, 0)), chance.choice(("CONSTANT", "REFLECT")))[:, 1:, :-1]


def _resize(chance: random.Random, x: Tensor) -> Tensor:
    if max(x.shape[1:3]) > 12:
        return tf.nn.max_pool2d(x, 2, 2, "SAME")
    size = (x.shape[1] * 2, x.shape[2] * 2)
    return tf.image.resize(x, size, chance.choice(("bilinear", "nearest")))


def _upscale(chance: random.Random, x: Tensor) -> Tensor:
    """Nearest neighbors by broadcasting, in six dimensions."""
    _, height, width, depth = x.shape
    if max(height, width) > 12:
        return tf.nn.avg_pool2d(x, 2, 2, "VALID")
    y = tf.broadcast_to(tf.reshape(x, (1, height, 1, width, 1, depth)), (1, height, 2, width, 2, depth))
    return tf.reshape(y, (1, 2 * height, 2 * width, depth)) * chance.choice((1.0, 0.5))


def _video(chance: random.Random, x: Tensor) -> Tensor:
    depth = x.shape[-1]
    frames = tf.stack([x, x * 0.5, _activation(chance, x)], 1)
    kernel = _weights(chance, chance.choice((1, 2, 3)), 3, 3, depth, 4)
    y = tf.nn.conv3d(frames, kernel, (1, chance.choice((1, 2)), 1, 1, 1), "SAME")
    return tf.reduce_mean(y, 1) if chance.random() < 0.5 else tf.unstack(y, axis=1)[0]


def _normalize(chance: random.Random, x: Tensor) -> Tensor:
    return x / tf.sqrt(tf.reduce_sum(tf.square(x), -1, keepdims=True) + 1e-4) - _weights(chance, x.shape[-1])


# Blocks of sequences, of shape [1, length, channels].


def _attention(chance: random.Random, x: Tensor) -> Tensor:
    _, length, depth = x.shape
    heads = 2 if depth % 2 == 0 else 1
    size = depth // heads
    parts = [tf.reshape(tf.matmul(x, _weights(chance, depth, heads * size)), (1, length, heads, size)) for _ in range(3)]
    query, key, value = [tf.transpose(part, (0, 2, 1, 3)) for part in parts]
    scores = tf.matmul(query, key, transpose_b=True) / size**0.5
    if chance.random() < 0.4:
        scores += tf.constant(np.triu(np.full((length, length), -1e4, np.float32), 1))
    y = tf.transpose(tf.matmul(tf.nn.softmax(scores), value), (0, 2, 1, 3))
    return x + tf.pad(tf.reshape(y, (1, length, heads * size)), ((0, 0), (0, 0), (0, depth - heads * size)))


def _packed_attention(chance: random.Random, x: Tensor) -> Tensor:
    """Queries, keys and values of one product, in five dimensions."""
    _, length, depth = x.shape
    if depth % 2:
        return x * 2
    packed = tf.reshape(tf.matmul(x, _weights(chance, depth, 3 * depth)), (1, length, 3, 2, depth // 2))
    query, key, value = tf.unstack(tf.transpose(packed, (2, 0, 3, 1, 4)))
    y = tf.matmul(tf.nn.softmax(tf.matmul(query, key, transpose_b=True)), value)
    return tf.reshape(tf.transpose(y, (0, 2, 1, 3)), (1, length, depth))


def _feed_forward(chance: random.Random, x: Tensor) -> Tensor:
    depth = x.shape[-1]
    y = _activation(chance, tf.matmul(x, _weights(chance, depth, 2 * depth)) + _weights(chance, 2 * depth))
    return x + tf.matmul(y, _weights(chance, 2 * depth, depth))


def _layer_norm(chance: random.Random, x: Tensor) -> Tensor:
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * _weights(chance, x.shape[-1])


def _rotary(chance: random.Random, x: Tensor) -> Tensor:
    _, length, depth = x.shape
    half = depth // 2
    first, second = x[:, :, :half], x[:, :, half : 2 * half]
    angles = tf.constant(np.outer(np.arange(length), 1 / 10 ** np.arange(half)).astype(np.float32))
    return tf.concat((first * tf.cos(angles) - second * tf.sin(angles), second * tf.cos(angles), x[..., 2 * half :]), -1)


def _relative_positions(chance: random.Random, x: Tensor) -> Tensor:
    length = x.shape[1]
    places = tf.range(length, dtype=chance.choice((tf.int32, tf.int64)))
    table = _weights(chance, 2 * length - 1, length)
    bias = tf.gather(table, places[:, None] - places[None, :] + length - 1)
    return x + tf.reduce_mean(tf.matmul(bias, tf.transpose(x, (1, 2, 0))[:, :, :]), 2)[None, :, :1]


def _token_shift(chance: random.Random, x: Tensor) -> Tensor:
    y = tf.concat((tf.zeros_like(x[:, :1]), x[:, :-1]), 1)
    return x * 0.5 + y[..., tf.newaxis][..., 0] * _weights(chance, x.shape[-1])


def _gated(chance: random.Random, x: Tensor) -> Tensor:
    return _activation(chance, x) * tf.sigmoid(x - 1) + tf.where(x > 0, x, tf.zeros_like(x))


def _conv_1d(chance: random.Random, x: Tensor) -> Tensor:
    return tf.nn.conv1d(x, _weights(chance, 3, x.shape[-1], x.shape[-1]), 1, "SAME")


def _top_rows(chance: random.Random, x: Tensor) -> Tensor:
    best = tf.argmax(x, 1, output_type=chance.choice((tf.int32, tf.int64)))
    return x + tf.gather(x, best, axis=1, batch_dims=1)[:, :1]


def _picks(chance: random.Random, x: Tensor) -> Tensor:
    count = min(x.shape[1], 3)
    indices = tf.constant([[number % count for number in range(x.shape[1])]], chance.choice((tf.int32, tf.int64)))
    return tf.gather(x, indices, axis=1, batch_dims=1)


def _one_hot(chance: random.Random, x: Tensor) -> Tensor:
    indices = tf.cast(tf.clip_by_value(tf.reduce_sum(x, -1), 0, 3), tf.int64)
    return x + tf.reduce_sum(tf.one_hot(indices + 1, 5), -1, keepdims=True)


def _ellipsis(chance: random.Random, x: Tensor) -> Tensor:
    return tf.concat((x[..., 1:], x[..., :1]), -1) + x[:, ::-1][..., : x.shape[-1]] * chance.choice((0.1, -1))


def _tiles(chance: random.Random, x: Tensor) -> Tensor:
    y = tf.tile(x[:, :1], (1, x.shape[1], 1))
    return tf.maximum(x, y) - tf.minimum(x, y) / (tf.abs(y) + 1)


def _reverse_sum(chance: random.Random, x: Tensor) -> Tensor:
    return tf.math.cumsum(x, 1, reverse=chance.random() < 0.3) / float(x.shape[1])


_IMAGE: tuple[Block, ...] = (
    _conv, _conv, _depthwise, _squeeze_excite, _windows, _shuffle, _channel_split, _group_norm, _pad_roll, _resize, _upscale,
    _video, _normalize,
)  # fmt: skip
_SEQUENCE: tuple[Block, ...] = (
    _attention, _packed_attention, _feed_forward, _layer_norm, _rotary, _relative_positions, _token_shift, _gated, _conv_1d,
    _top_rows, _picks, _one_hot, _ellipsis, _tiles, _reverse_sum,
)  # fmt: skip


def _head(chance: random.Random, x: Tensor) -> Tensor:
    kind = chance.randrange(4)
    if kind == 0:
        return x
    y = tf.reduce_mean(x, list(range(1, len(x.shape) - 1)))
    y = tf.matmul(y, _weights(chance, y.shape[-1], 5))
    return y if kind == 1 else tf.nn.softmax(y) if kind == 2 else tf.argmax(y, -1)


def network(seed: int) -> Any:
    """Return the concrete function of a network."""
    chance = random.Random(seed)
    kind = chance.choice(("image", "image", "sequence", "sequence", "tokens"))
    depth = chance.choice((4, 6, 8))
    table = _weights(chance, 11, depth)
    count = chance.randint(2, 6)
    state = chance.getstate()

    def run(x: Tensor) -> Tensor:
        chance.setstate(state)
        y = tf.gather(table, x) if kind == "tokens" else x
        for _ in range(count):
            y = chance.choice(_IMAGE if kind == "image" else _SEQUENCE)(chance, y)
        return _head(chance, y)

    shape = {"image": (1, chance.choice((6, 8)), chance.choice((6, 8)), depth), "sequence": (1, 6, depth), "tokens": (1, 6)}[kind]
    dtype = tf.float32 if kind != "tokens" else chance.choice((tf.int32, tf.int64))
    return tf.function(run, autograph=False).get_concrete_function(tf.TensorSpec(shape, dtype, "x"))


def converted(seed: int) -> bytes:
    """Return the model of a network; every fifth is quantized in its weights alone, every seventh has weights in float16."""
    converter = tf.lite.TFLiteConverter.from_concrete_functions([network(seed)])
    converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
    if seed % 5 == 4 or seed % 7 == 6:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if seed % 7 == 6:
            converter.target_spec.supported_types = [tf.float16]
    content: bytes = converter.convert()
    return content


def main() -> None:
    """Draw the networks; those that the converter does not convert are left out."""
    folder, seeds = Path(sys.argv[1]), range(*map(int, sys.argv[2:]))
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        path = folder / f"tensorflow_{seed:03}.tflite"
        if path.exists():
            continue
        try:
            content = converted(seed)
        except Exception as error:
            print(f"{path.name}: {type(error).__name__}: {str(error)[:200]!r}", flush=True)
            continue
        path.write_bytes(content)


if __name__ == "__main__":
    main()
