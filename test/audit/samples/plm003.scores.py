"""What a network gives for a batch, held against the same rows for all of them."""

import torch
import torch.nn.functional as F

device = torch.device("cuda")


@torch.no_grad()
def zero_shot(model, unwrap_model, classes, test_loader):
    model.eval()
    scores, likely, rows, kept, right, best, near = [], [], [], [], [], [], []
    for images, target in test_loader:
        features = unwrap_model(model).encode_image(images.to(device))
        features = features / features.norm(dim=-1, keepdim=True)
        similar = 100 * features @ classes.t()
        scores.append(similar)  # expect: PLM003
        likely.append(torch.matmul(features, classes.t()).softmax(-1))  # expect: PLM003
        rows.append(torch.einsum("nd,cd->nc", features, classes))  # expect: PLM003
        # trap: on the host
        kept.append((features @ classes.t()).cpu())
        # trap: one number an example
        right.append(similar.argmax(1) == target.to(device))
        # trap: one number an example
        best.append(torch.einsum("nd,nd->n", features, F.normalize(features)))
        # trap: one number an example
        near.append((features * features).sum(-1))
    return scores, likely, rows, kept, right, best, near


@torch.no_grad()
def against(model, prompts, test_loader):
    model.eval()
    fixed = model.encode_text(prompts)
    found = []
    for rows in test_loader:
        # Of what the loader gave, and of a run before the loop: wherever that is.
        found.append(rows @ fixed.t())  # likely: PLM003
    return found
