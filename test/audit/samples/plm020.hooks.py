"""Networks that run for what hooks take of them."""

import torch


class Probes:
    def __init__(self, language_model, probe, layers):
        self.model = language_model
        self.probe = probe
        self.layers = layers
        self.optimizer = torch.optim.Adam(self.probe.parameters(), fused=True)

    def fit(self, loader):
        taken = {}

        def take(module, inputs, outputs):
            if isinstance(outputs, tuple):
                outputs = outputs[0]
            taken[module] = outputs.detach().flatten(0, 1)

        for batch in loader:
            handles = [layer.register_forward_hook(take) for layer in self.layers]
            self.model(batch["input_ids"].cuda())  # expect: PLM020
            for handle in handles:
                handle.remove()
            with torch.no_grad():
                # trap: records nothing
                self.model(batch["input_ids"].cuda())
            loss = sum(self.probe(one) for one in taken.values())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def tune(self, loader):
        for batch in loader:
            # trap: its own outputs are what learns
            out = self.model(batch["input_ids"].cuda())
            self.optimizer.zero_grad()
            out.loss.backward()
            self.optimizer.step()
