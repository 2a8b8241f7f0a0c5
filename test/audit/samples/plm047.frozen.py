import torch
from transformers import AutoModel, AutoModelForCausalLM, Trainer


class Distilling(Trainer):
    def __init__(self, *args, elder_model=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.elder_model = elder_model

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        with torch.no_grad():
            told = self.elder_model(**inputs, output_hidden_states=True)  # expect: PLM047
        loss = (outputs.logits - told.logits).pow(2).mean()
        return (loss, outputs) if return_outputs else loss


class Comparing(Trainer):
    def __init__(self, *args, elder_model=None, compare=None, **kwargs):
        super().__init__(*args, **kwargs)
        self.elder_model, self.compare = elder_model, compare

    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        outputs = model(**inputs)
        with torch.no_grad():
            # trap: handed on whole, it may be read there
            told = self.elder_model(**inputs, output_hidden_states=True)
        return self.compare(outputs, told)

    @torch.no_grad()
    def told_of(self, inputs):
        # trap: the same, by who calls this
        return self.elder_model(**inputs, output_hidden_states=True)


@torch.no_grad()
def look(model: AutoModel, loader):
    for batch in loader:
        # trap: no step of a training
        out = model(**batch, output_hidden_states=True)
        print(out.logits.argmax(-1))


def train(loader, optimizer):
    model = AutoModelForCausalLM.from_pretrained("small").cuda()
    elder = AutoModelForCausalLM.from_pretrained("large").cuda().eval()
    for batch in loader:
        with torch.no_grad():
            scores = elder(batch["ids"], output_attentions=True).logits  # expect: PLM047
        loss = (model(batch["ids"]).logits - scores).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
