"""Cross-entropy of the next token three ways: as transformers computes it, in chunks, and by Liger's fused kernel.

The last two never hold the logits of the whole batch. Liger needs CUDA; the chunks are for everywhere else.
"""
from torch import nn
from torch.nn.functional import cross_entropy, pad
from torch.utils.checkpoint import checkpoint

from . import adapters


class CausalLoss(nn.Module):
    """A module, so that DistributedDataParallel can wrap the loss with the model that it calls piece by piece."""

    def __init__(self, model, kind="default", autocast=None):
        super().__init__()
        self.model, self.kind, self.autocast = model, kind, autocast

    def forward(self, ids):
        with adapters.autocast(ids.device, self.autocast):
            return self._loss(ids)

    def _loss(self, ids):
        if self.kind == "default":
            return self.model(input_ids=ids, labels=ids).loss
        base = self.model.get_base_model() if hasattr(self.model, "get_base_model") else self.model
        hidden = base.model(input_ids=ids, use_cache=False).last_hidden_state
        labels = pad(ids, (0, 1), value=-100)[..., 1:]
        return (chunked if self.kind == "chunked" else fused)(base, hidden, labels)


def chunked(base, hidden, labels, chunks=8):
    def part(h, y):
        logits = base.lm_head(h).float()
        return cross_entropy(logits.view(-1, logits.size(-1)), y.reshape(-1), reduction="sum")

    parts = zip(hidden.chunk(chunks, dim=1), labels.chunk(chunks, dim=1))
    total = sum(checkpoint(part, h, y, use_reentrant=False) for h, y in parts)
    return total / (labels.numel() - labels.size(0))


def fused(base, hidden, labels):
    from liger_kernel.transformers import LigerFusedLinearCrossEntropyLoss

    return LigerFusedLinearCrossEntropyLoss()(
        base.lm_head.weight, hidden.view(-1, hidden.size(-1)), labels.contiguous().view(-1)
    )
