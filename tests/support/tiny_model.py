"""A transformer small enough to train in a test, which takes positions and masks from outside. Needs torch."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional


class TinyModel(nn.Module):
    """Two pre-norm layers of width 64 with learned positions and tied embeddings."""

    def __init__(self, vocab_size: int, *, n_positions: int = 512, width: int = 64, layers: int = 2) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.tokens = nn.Embedding(vocab_size, width)
        self.positions = nn.Embedding(n_positions, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        for table in (self.tokens, self.positions):
            nn.init.normal_(table.weight, std=0.05)

    def forward(self, batch: dict[str, Any]) -> torch.Tensor:
        """Logits of a batch as `collate_rows` makes it."""
        hidden = self.tokens(batch["input_ids"]) + self.positions(batch["position_ids"])
        for block in self.blocks:
            hidden = block(hidden, batch["attention_mask"])
        return self.norm(hidden) @ self.tokens.weight.T


class Block(nn.Module):
    """Attention with four heads, then a feed-forward layer."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.mix, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """One layer; mask bool[batch, 1, length, length]."""
        n, length, width = hidden.shape
        heads = self.mix(self.norms[0](hidden)).view(n, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*heads, attn_mask=mask)
        hidden = hidden + self.out(mixed.transpose(1, 2).reshape(n, length, width))
        return hidden + self.feed(self.norms[1](hidden))


def loss_sum(model: TinyModel, batch: dict[str, Any]) -> tuple[torch.Tensor, int]:
    """Cross entropy in nats over all labels that count, and how many those are."""
    logits, labels = model(batch), batch["labels"]
    total = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum", ignore_index=-100)
    return total, int((labels != -100).sum())
