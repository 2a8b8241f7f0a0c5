import torch


class Experiment:
    def _predict(self, x, y):
        outputs = self.model(x.cuda())
        if self.args.last:
            outputs = outputs[0]
        return outputs, y.cuda()

    def validate(self, val_loader):
        preds, trues = [], []
        with torch.no_grad():
            for x, y in val_loader:
                out, true = self._predict(x, y)
                preds.append(out)  # expect: PLM003
                # trap: the labels are no outputs
                trues.append(true)
        return torch.cat(preds), trues
