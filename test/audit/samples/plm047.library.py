import torch
from transformers import AutoModel, OPTForCausalLM


class Weighed(torch.nn.Module):
    def __init__(self, config, name):
        super().__init__()
        self.writer = OPTForCausalLM(config)
        self.other = AutoModel.from_pretrained(name, trust_remote_code=True)

    def forward(self, ids, mask):
        # It is a network of the library, whatever its loss is told.
        said = self.writer.forward(
            input_ids=ids,
            attention_mask=mask,
            labels=ids,
            output_hidden_states=True,  # expect: PLM047
            reduction="none",
        )
        # trap: code that comes with the weights may build its result from them
        judged = self.other(input_ids=ids, output_hidden_states=True, layers_to_pool=[3, 6])
        return (said.loss * mask).sum() + judged.score
