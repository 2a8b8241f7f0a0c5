import torch


class Speaker:
    def __init__(self, net, tokenizer, optimizer):
        self.net = net
        self.tokenizer = tokenizer
        self.optimizer = optimizer
        # trap: once
        self.ends = torch.tensor([tokenizer.eos_token_id], device="cuda")

    def scores(self, batch, drawn):
        left_out = torch.tensor([self.tokenizer.pad_token_id], device="cuda")  # expect: PLM033
        # trap: others for every batch
        other = torch.tensor([drawn.pad_token_id], device="cuda")
        keep = ~torch.isin(batch["labels"], left_out) & (batch["labels"] != other)
        return (self.net(batch["ids"]).logits.mean(-1) * keep).sum()

    def fit(self, batches, drawn):
        for batch in batches:
            loss = self.scores(batch, drawn)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
