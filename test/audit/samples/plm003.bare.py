import numpy as np
import torch


class Experiment:
    def test(self, test_loader):
        self.model.eval()
        preds, trues, losses, shown = [], [], [], []
        for i, (batch_x, batch_y) in enumerate(test_loader):
            pred, true = self.process(batch_x, batch_y)
            preds.append(pred.detach())  # likely: PLM003
            # trap: on the host
            trues.append(true.detach().cpu().numpy())
            # trap: a number each
            losses.append(self.score(pred, true).detach())
        preds = torch.stack(preds).cpu().numpy()
        return np.mean(losses), preds, trues, shown

    def spread(self, test_loader):
        self.model.eval()
        outputs, chances = [], []
        for batch in test_loader:
            output, logits = self.process(*batch)
            outputs.append(output.data.squeeze(1))  # likely: PLM003
            chances += [logits.detach().float()]  # likely: PLM003
        return torch.cat(outputs), torch.cat(chances)

    def counted(self, test_loader):
        self.model.eval()
        hits = []
        for batch in test_loader:
            output, mask = self.process(*batch)
            # trap: one number a batch
            hits.append((output.argmax(1) == mask).float().sum().detach())
        return torch.stack(hits)
