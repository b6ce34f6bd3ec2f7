"""Trains a small CNN and a small GPT; prints the loss of each step.

    ptxloom run python train.py          # on an emulated GPU
    python train.py --device cpu         # for comparison: the same losses
"""

import argparse

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.into = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape
        parts = (t.view(batch, time, self.heads, -1) for t in self.into(x).split(width, 2))
        q, k, v = (t.transpose(1, 2) for t in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, time, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class GPT(nn.Module):
    def __init__(self, words=65, width=64, layers=2, heads=4, time=32):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(time, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, x):
        at = torch.arange(x.size(1), device=x.device)
        return self.head(self.norm(self.blocks(self.words(x) + self.places(at))))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, groups=2), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip


def images(count=128):
    """Squares of noise whose brightest row is the class."""
    labels = torch.arange(count) % 10
    x = torch.rand(count, 1, 16, 16)
    x[torch.arange(count), 0, labels] += 1
    return x, labels


def text(count=128, time=32):
    """Counting in steps that the first two words tell."""
    start, step = torch.randint(65, (count, 1)), torch.randint(1, 5, (count, 1))
    words = (start + step * torch.arange(time + 1)) % 65
    return words[:, :-1], words[:, 1:]


def train(name, model, data, device, rate):
    model = model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    order = torch.Generator().manual_seed(1)
    loader = DataLoader(
        TensorDataset(*data), 32, shuffle=True, generator=order, pin_memory=device != "cpu"
    )
    for epoch in range(3):
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            out = model(x)
            loss = F.cross_entropy(out.flatten(0, -2), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            print(f"{name} epoch {epoch} loss {loss.item():.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    device = parser.parse_args().device
    torch.manual_seed(0)
    train("cnn", cnn(), images(), device, 1e-2)
    train("gpt", GPT(), text(), device, 3e-3)


if __name__ == "__main__":
    main()
