"""The modules of PyTorch that ``tools.sweep.source_models`` writes, also as ONNX."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from .source_models import WORDS, positions


class Layer(nn.Module):  # type: ignore[misc]
    """Attention and two dense layers, with the products written out."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.taken, self.given = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        batch, rows, width = x.shape
        parts = self.taken(x).reshape(batch, rows, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        query, key, value = parts[0], parts[1], parts[2]
        weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(width // self.heads), -1)
        attended = (weights @ value).transpose(1, 2).reshape(batch, rows, width)
        x = self.first(x + self.given(attended))
        return self.second(x + self.inner(x))


class Text(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(WORDS, 64)
        self.register_buffer("positions", torch.from_numpy(positions(32, 64)))
        self.layers = nn.Sequential(Layer(64, 4), Layer(64, 4))
        self.last = nn.Linear(64, 4)

    def forward(self, tokens: Any) -> Any:
        return torch.softmax(self.last(self.layers(self.table(tokens) + self.positions).mean(1)), -1)


class Patches(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.cut = nn.Conv2d(3, 64, 16, 16)
        self.positions = nn.Parameter(torch.randn(1, 49, 64) * 0.02)
        self.layers = nn.Sequential(Layer(64, 4), Layer(64, 4))
        self.last = nn.Linear(64, 10)

    def forward(self, image: Any) -> Any:
        patches = self.cut(image).flatten(2).transpose(1, 2)
        return self.last(self.layers(patches + self.positions).mean(1))


class Frames(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        sizes = ((40, 5, 1), (64, 3, 2), (64, 3, 3))
        convolutions = [
            nn.Sequential(nn.Conv1d(width, 64, kernel, dilation=gap), nn.ReLU(), nn.BatchNorm1d(64))
            for width, kernel, gap in sizes
        ]
        self.layers = nn.Sequential(*convolutions)
        self.last = nn.Linear(128, 32)

    def forward(self, frames: Any) -> Any:
        x = self.layers(frames)
        mean = x.mean(2)
        deviation = torch.sqrt(((x - mean.unsqueeze(2)) ** 2).mean(2) + 1e-5)
        return self.last(torch.cat([mean, deviation], 1))


class Detector(nn.Module):  # type: ignore[misc]
    """Boxes, as center and size in pixels, and scores of 4 classes, for two grids."""

    def __init__(self) -> None:
        super().__init__()

        def layer(before: int, after: int, stride: int) -> Any:
            convolution = nn.Conv2d(before, after, 3, stride, 1, bias=False)
            return nn.Sequential(convolution, nn.BatchNorm2d(after), nn.SiLU())

        self.fine = nn.Sequential(layer(3, 16, 2), layer(16, 32, 2), layer(32, 64, 2))
        self.coarse = layer(64, 128, 2)
        self.joined = layer(192, 64, 1)
        self.heads = nn.ModuleList([nn.Conv2d(64, 8, 1), nn.Conv2d(128, 8, 1)])

    def forward(self, image: Any) -> Any:
        fine = self.fine(image)
        coarse = self.coarse(fine)
        upper = nn.functional.interpolate(coarse, scale_factor=2.0, mode="nearest")
        joined = self.joined(torch.cat([fine, upper], 1))
        boxes = []
        for features, head, stride in ((joined, self.heads[0], 8), (coarse, self.heads[1], 16)):
            size = 128 // stride
            result = head(features).permute(0, 2, 3, 1).reshape(1, size * size, 8)
            rows, columns = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
            grid = torch.stack([columns, rows], -1).reshape(1, size * size, 2).float()
            center = (torch.sigmoid(result[..., :2]) + grid) * stride
            extent = torch.exp(result[..., 2:4]) * stride
            boxes.append(torch.cat([center, extent, torch.sigmoid(result[..., 4:])], -1))
        return torch.cat(boxes, 1)


class Residual(nn.Module):  # type: ignore[misc]
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.before = nn.Sequential(
            *(nn.Conv2d(width, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.Hardswish()),
            *(nn.Conv2d(inner, inner, 5, padding=2, groups=inner, bias=False), nn.BatchNorm2d(inner), nn.Hardswish()),
        )
        squeezed = (nn.AdaptiveAvgPool2d(1), nn.Conv2d(inner, inner // 4, 1), nn.ReLU(), nn.Conv2d(inner // 4, inner, 1))
        self.scale = nn.Sequential(*squeezed, nn.Hardsigmoid())
        self.after = nn.Sequential(nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x: Any) -> Any:
        inner = self.before(x)
        return x + self.after(inner * self.scale(inner))


class Fire(nn.Module):  # type: ignore[misc]
    def __init__(self, before: int, squeezed: int, after: int) -> None:
        super().__init__()
        self.squeeze = nn.Sequential(nn.Conv2d(before, squeezed, 1), nn.ReLU())
        self.parts = nn.ModuleList([nn.Conv2d(squeezed, after, size, padding=size // 2) for size in (1, 3)])

    def forward(self, x: Any) -> Any:
        squeezed = self.squeeze(x)
        return torch.relu(torch.cat([part(squeezed) for part in self.parts], 1))


def ended(layers: Sequence[Any], width: int) -> Any:
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10))


def mobile() -> Any:
    first = (nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish())
    second = (nn.Conv2d(16, 32, 3, 2, 1, bias=False), nn.BatchNorm2d(32), nn.Hardswish())
    return ended((*first, Residual(16, 64), *second, Residual(32, 128), Residual(32, 128)), 32)


def squeeze() -> Any:
    layers = (nn.Conv2d(3, 32, 3, 2), nn.ReLU(), nn.MaxPool2d(3, 2), Fire(32, 16, 32), Fire(64, 16, 32), nn.MaxPool2d(3, 2))
    return ended((*layers, Fire(64, 32, 64), Fire(128, 32, 64)), 128)


def waveform() -> Any:
    layers: list[Any] = []
    for before, after, kernel, stride in ((1, 32, 10, 5), (32, 64, 8, 4), (64, 64, 4, 2)):
        layers += [nn.Conv1d(before, after, kernel, stride), nn.GroupNorm(8, after), nn.GELU()]
    return nn.Sequential(*layers, nn.Conv1d(64, 16, 1))
