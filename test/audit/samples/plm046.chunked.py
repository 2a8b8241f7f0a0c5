import torch.nn.functional as F
from torch import nn
from transformers import AutoModelForCausalLM


def main(args, loader, optimizer, texts):
    model = AutoModelForCausalLM.from_pretrained(args.name)
    chunks = [text[i : i + 1024] for text in texts for i in range(0, len(text), 1024)]
    for batch in loader:
        logits = model(**batch).logits.float()  # expect: PLM046
        loss = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten())
        loss.backward()
        optimizer.step()
    for batch in loader:
        loss = 0.0
        logits = model(**batch).logits
        for part, labels in zip(logits.chunk(8), batch["labels"].chunk(8)):
            # trap: in pieces
            loss = loss + F.cross_entropy(part.float().flatten(0, 1), labels.flatten())
        loss.backward()
        optimizer.step()
    return chunks


def named(model, loader, optimizer):
    ce = nn.CrossEntropyLoss(ignore_index=-100)
    for batch in loader:
        wide = model(**batch).logits.float()  # expect: PLM046
        loss = ce(wide.flatten(0, 1), batch["labels"].flatten())
        loss.backward()
        optimizer.step()
