import torch
import torch.nn.functional as F

device = torch.device("cuda")


def train(model, loader, optimizer, teacher, alpha):
    for x, y in loader:
        logits = model(x.to(device))
        if teacher is not None:
            distance = F.mse_loss(logits, teacher(x.to(device)).detach())
        else:
            # trap: nobody calls this without a teacher
            distance = torch.tensor(0.0, device=device)
        offset = torch.tensor(0.5, device=device)  # expect: PLM033
        (F.cross_entropy(logits, y.to(device)) + alpha * distance + offset).backward()
        optimizer.step()


class Listwise(torch.nn.Module):
    def forward(self, queries, documents):
        pairs = [(query, one) for query, all_of in zip(queries, documents) for one in all_of]
        if not pairs:
            # trap: hardly any batch is empty
            return torch.tensor(0.0, device=device, requires_grad=True)
        return self.model(pairs).sum() * torch.tensor(2.0, device=device)  # expect: PLM033
