from transformers import Trainer


class Preferring(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs, output_hidden_states=True)  # expect: PLM047
        loss = -outputs.logits.log_softmax(-1).mean()
        return (loss, outputs) if return_outputs else loss


class Comparing(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs, output_hidden_states=True)  # expect: PLM047
        loss = -outputs.logits.log_softmax(-1).mean()
        if return_outputs:
            return loss, outputs
        return loss
