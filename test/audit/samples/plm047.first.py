import torch.nn.functional as F


class LanguageLoss:
    def __call__(self, model, inputs):
        outputs = model(input_ids=inputs["input_ids"], output_hidden_states=True)  # expect: PLM047
        logits = outputs["logits"] if isinstance(outputs, dict) else outputs[0]
        return F.cross_entropy(logits.flatten(0, 1), inputs["labels"].flatten())


class StateLoss:
    def __call__(self, model, inputs):
        # trap: the second may be what was asked for
        found = model(input_ids=inputs["input_ids"], output_hidden_states=True)
        return F.cross_entropy(found[0].flatten(0, 1), inputs["labels"].flatten()) + found[1][-1].mean()
