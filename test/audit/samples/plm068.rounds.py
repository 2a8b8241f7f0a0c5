# a length on the device, compared in each turn of the loop that it is the end of, once a round
import torch


class Tuner:
    def __init__(self, writer, optimizer, loader, device):
        self.writer_model = writer.to(device)
        self.optimizer = optimizer
        self.loader = loader
        self.device = device

    def gains(self, taken):
        mask = taken["attention_mask"]
        values = taken["values"]
        length = mask.sum(dim=1).max()
        found = []
        for t in reversed(range(length)):  # expect: PLM068
            following = values[:, t + 1] if t < length - 1 else 0.0
            found.append(values[:, t] - following)
        taken["gains"] = torch.stack(found, dim=1)

    # trap: taken to the host once
    def known(self, taken):
        length = taken["attention_mask"].sum(dim=1).max().item()
        kept = []
        for t in range(length):
            kept.append(taken["values"][:, t] if t < length - 1 else 0.0)
        taken["kept"] = kept

    # trap: read once, as `.item()` would read it
    def alone(self, taken):
        length = taken["attention_mask"].sum(dim=1).max()
        taken["sums"] = [taken["values"][:, t].sum() for t in range(length)]
        for t in range(length):
            taken["sums"][t] = taken["sums"][t] * 2

    # trap: the lengths of what is still on the host
    def counted(self, batch):
        length = batch["attention_mask"].sum(dim=1).max()
        words = []
        for t in range(length):
            words.append(batch["texts"][t] if t < length - 1 else "")
        return words

    def round(self, batch):
        words = self.counted(batch)
        batch = {name: part.to(self.device) for name, part in batch.items()}
        with torch.no_grad():
            taken = self.writer_model.sample(batch["input_ids"], batch["attention_mask"], words)
        given = {"ids": taken["ids"], "mask": taken["attention_mask"]}
        with torch.no_grad():
            taken["values"] = self.writer_model.forward_pass(**given)
        self.gains(taken)
        self.known(taken)
        self.alone(taken)
        for _ in range(4):
            loss = (self.writer_model.forward_pass(**given) - taken["gains"]).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def fit(self):
        for batch in self.loader:
            self.round(batch)
