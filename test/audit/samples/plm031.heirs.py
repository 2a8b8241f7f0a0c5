import torch
import torch.nn.functional as F
from transformers import Trainer


class PairTrainer(Trainer):
    def scores(self, net, batch):
        return net(**batch).logits[:, -1]

    def figures(self, net, batch):
        return self.scores(net, batch).mean()

    def compute_loss(self, net, batch, return_outputs=False):
        return self.figures(net, batch)

    def report(self, net, batch):
        return self.scores(net, batch)


class WeighedTrainer(PairTrainer):
    # The step that the base takes comes here.
    def figures(self, net, batch):
        made = self.scores(net, batch)
        torch.cuda.empty_cache()  # expect: PLM031
        with torch.no_grad():
            theirs = self.scores(self.teacher, batch)
        return F.mse_loss(made, theirs)

    # No step calls this one of the base's.
    def report(self, net, batch):
        torch.cuda.empty_cache()
        return net(**batch)


class WidenedTrainer(PairTrainer):
    # It goes back to the base, which calls the figures of this class.
    def compute_loss(self, net, batch, return_outputs=False):
        return 2 * super().compute_loss(net, batch)

    def figures(self, net, batch):
        torch.cuda.empty_cache()  # expect: PLM031
        return net(**batch).loss


class PlainTrainer(PairTrainer):
    # Its own step does not ask for the figures, which are for a person to look at.
    def compute_loss(self, net, batch, return_outputs=False):
        return net(**batch).loss

    def figures(self, net, batch):
        torch.cuda.empty_cache()
        return net(**batch).logits.mean()
