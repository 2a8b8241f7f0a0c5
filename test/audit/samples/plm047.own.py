import torch


class Reranker(torch.nn.Module):
    def forward(self, features):
        # trap: a network of its own make, which builds its scores from them
        outputs = self.model(
            input_ids=features["input_ids"], output_hidden_states=True, cutoff_layers=[8, 16]
        )
        plain = self.model(input_ids=features["input_ids"], output_hidden_states=True)  # expect: PLM047
        return outputs.logits + plain.logits
