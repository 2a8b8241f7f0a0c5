import numpy as np
import torch


class RetrievalEvaluator:
    def __init__(self):
        self.features = []
        self.labels = []
        self.arrays = []
        self.hits = []
        self.last = None

    def reset(self):
        self.features = []
        self.labels = []

    def process(self, inputs, outputs):
        self.features.append(outputs)  # likely: PLM003
        # trap: brought to the host
        self.features.append(outputs.cpu())
        # trap: what the loader gave
        self.labels.extend(inputs["targets"])
        # trap: an array already, as it is made one below without a copy
        self.arrays.append(outputs)
        # trap: a number an example
        self.hits.append(outputs.argmax(1).sum())
        # trap: the last one only
        self.last = outputs

    def evaluate(self):
        features = torch.cat(self.features, dim=0)
        hits = torch.stack(self.hits)
        return torch.mm(features, features.t()), hits

    def summarize(self):
        return np.concatenate(self.arrays)


class Face:
    """No evaluator by its name: a buffer of whatever."""

    def __init__(self):
        self.features = []

    def process(self, inputs, outputs):
        # trap: who knows what for
        self.features.append(outputs)

    def evaluate(self):
        return torch.cat(self.features)


class ArrayEvaluator:
    def __init__(self):
        self.features = []

    def process(self, inputs, outputs):
        # trap: on the host, or this would fail below
        self.features.append(outputs)

    def evaluate(self):
        return torch.cat(self.features).numpy()


def test(model, loader, evaluator):
    model.cuda().eval()
    evaluator.reset()
    with torch.no_grad():
        for inputs in loader:
            evaluator.process(inputs, model(inputs["images"].cuda()))
    return evaluator.evaluate()
