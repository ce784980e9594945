"""Draw networks with PyTorch and litert-torch: ``python -m tools.networks.torch_networks FOLDER [FIRST] COUNT``.

They are chains of two to five modules as in ``tensorflow_networks``. Files that exist are not made again.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import litert_torch
import torch
from torch import nn


class _Function(nn.Module):  # type: ignore[misc]
    """A module of a function."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Any) -> Any:
        return self.function(x)


class _Residual(nn.Module):  # type: ignore[misc]
    def __init__(self, *modules: nn.Module) -> None:
        super().__init__()
        self.inner = nn.Sequential(*modules)

    def forward(self, x: Any) -> Any:
        return x + self.inner(x)


class _Attention(nn.Module):  # type: ignore[misc]
    """Attention whose queries, keys and values come from one product, as in vision transformers."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.packed, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)

    def forward(self, x: Any) -> Any:
        batch, length, size = x.shape
        query, key, value = self.packed(x).reshape(batch, length, 3, 2, size // 2).permute(2, 0, 3, 1, 4).unbind(0)
        weights = (query @ key.transpose(-2, -1) / 3).softmax(-1)
        return self.out((weights @ value).transpose(1, 2).reshape(batch, length, size))


class _Windows(nn.Module):  # type: ignore[misc]
    def forward(self, x: Any) -> Any:
        batch, depth, height, width = x.shape
        y = x.reshape(batch, depth, height // 2, 2, width // 2, 2).permute(0, 2, 4, 3, 5, 1)
        y = torch.roll(y, 1, 3) * 2
        return y.permute(0, 5, 1, 3, 2, 4).reshape(batch, depth, height, width)


def _activation(chance: random.Random) -> nn.Module:
    return chance.choice(
        (nn.ReLU, nn.GELU, lambda: nn.GELU(approximate="tanh"), nn.SiLU, nn.Hardswish, nn.LeakyReLU, nn.ELU, nn.Softplus)
    )()


def _image_block(chance: random.Random, depth: int) -> nn.Module:
    makers: tuple[Callable[[], nn.Module], ...] = (
        lambda: nn.Sequential(nn.Conv2d(depth, depth, 3, padding=1), nn.BatchNorm2d(depth), _activation(chance)),
        lambda: nn.Sequential(nn.Conv2d(depth, depth, 3, padding=1, groups=depth), _activation(chance)),
        lambda: nn.GroupNorm(2, depth),
        lambda: nn.InstanceNorm2d(depth),
        lambda: nn.ChannelShuffle(2),
        lambda: nn.Sequential(nn.Conv2d(depth, 4 * depth, 1), nn.PixelShuffle(2), nn.AvgPool2d(2)),
        lambda: nn.Sequential(nn.Upsample(scale_factor=2), nn.MaxPool2d(2)),
        lambda: _Residual(nn.Conv2d(depth, depth, 1), _activation(chance)),
        lambda: _Function(lambda x: x * x.mean((2, 3), keepdim=True).sigmoid()),
        lambda: _Function(lambda x: torch.cat(x.chunk(2, 1)[::-1], 1)),
        lambda: _Function(lambda x: torch.nn.functional.pad(x, (1, 1, 0, 0), mode="circular")[..., 1:-1]),
        _Windows,
    )
    return chance.choice(makers)()


def _sequence_block(chance: random.Random, depth: int) -> nn.Module:
    makers: tuple[Callable[[], nn.Module], ...] = (
        lambda: nn.LayerNorm(depth),
        lambda: _Residual(nn.LayerNorm(depth), _Attention(depth)),
        lambda: _Residual(nn.Linear(depth, 2 * depth), _activation(chance), nn.Linear(2 * depth, depth)),
        lambda: _Function(lambda x: torch.cat((-x[..., depth // 2 :], x[..., : depth // 2]), -1)),
        lambda: _Function(lambda x: x.cumsum(1) / 6),
        lambda: _Function(lambda x: x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)),
        lambda: _Function(lambda x: x.masked_fill(x < 0, -1.0)),
        lambda: _Function(lambda x: torch.einsum("blc,bmc->blm", x, x).softmax(-1) @ x),
        lambda: _Function(lambda x: x + x.gather(1, x.argmax(1, keepdim=True)).expand_as(x)),
        lambda: _Function(lambda x: x.unfold(1, 3, 1).mean(-1).repeat(1, 2, 1)[:, : x.shape[1]]),
    )
    return chance.choice(makers)()


def network(seed: int) -> tuple[nn.Module, Any]:
    """Return a network and its example input."""
    torch.manual_seed(seed)
    chance = random.Random(seed)
    depth = chance.choice((4, 8))
    kind = chance.choice(("image", "sequence", "tokens"))
    blocks: list[nn.Module] = [nn.Embedding(11, depth)] if kind == "tokens" else []
    make = _image_block if kind == "image" else _sequence_block
    blocks += [make(chance, depth) for _ in range(chance.randint(2, 5))]
    if chance.random() < 0.5:
        blocks.append(_Function(lambda x: x.mean((-2, -1))))
    if kind == "image":
        example = torch.randn(1, depth, 8, 8)
    else:
        example = torch.randint(0, 11, (1, 6)) if kind == "tokens" else torch.randn(1, 6, depth)
    return nn.Sequential(*blocks).eval(), example


def main() -> None:
    """Draw the networks; those that the converter does not convert are left out."""
    folder, seeds = Path(sys.argv[1]), range(*map(int, sys.argv[2:]))
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        path = folder / f"torch_{seed:03}.tflite"
        if path.exists():
            continue
        try:
            module, example = network(seed)
            litert_torch.convert(module, (example,)).export(str(path))
        except Exception as error:
            print(f"{path.name}: {type(error).__name__}: {str(error)[:200]!r}", flush=True)


if __name__ == "__main__":
    main()
