import torch
from torch import nn


class Reward(nn.Module):
    def __init__(self, backbone, width):
        super().__init__()
        self.backbone = backbone
        self.score = nn.Linear(width, 1)

    def forward(self, input_ids, attention_mask):
        outputs = self.backbone(
            input_ids=input_ids,
            attention_mask=attention_mask,
            output_hidden_states=True,  # expect: PLM047
        )
        return self.score(outputs.hidden_states[-1][:, -1])


class Mixed(nn.Module):
    def __init__(self, backbone, width):
        super().__init__()
        self.backbone = backbone
        self.score = nn.Linear(width, 1)

    def forward(self, input_ids):
        # trap: the layers are mixed
        outputs = self.backbone(input_ids=input_ids, output_hidden_states=True)
        return self.score(torch.stack(outputs.hidden_states[-4:]).mean(0)[:, -1])


def train(reward, mixed, loader, optimizer):
    for batch in loader:
        loss = (reward(**batch) - mixed(batch["input_ids"])).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
