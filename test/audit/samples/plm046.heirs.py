import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM, Trainer


class PairTrainer(Trainer):
    def likelihoods(self, net, batch):
        return -net(**batch).loss

    def compute_loss(self, net, batch, return_outputs=False):
        return -self.likelihoods(net, batch)

    def look(self, net, batch):
        return self.likelihoods(net, batch)


class SummedTrainer(PairTrainer):
    def likelihoods(self, net, batch):
        scores = net(input_ids=batch["input_ids"]).logits.float()  # expect: PLM046
        ahead = batch["input_ids"][:, 1:]
        return F.log_softmax(scores[:, :-1], dim=-1).gather(2, ahead.unsqueeze(2)).sum()

    # Nothing that is trained on comes by here.
    def look(self, net, batch):
        scores = net(input_ids=batch["input_ids"]).logits.float()
        return F.log_softmax(scores, dim=-1).sum()
