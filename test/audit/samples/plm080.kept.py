import torch
import torch.nn.functional as F
from transformers import AutoModel, Trainer


class Anchored(Trainer):
    def __init__(self, *args, anchors, **kwargs):
        super().__init__(*args, **kwargs)
        self.reference = AutoModel.from_pretrained("bert-base-uncased").eval().requires_grad_(False).cuda()
        self.anchors = anchors.cuda()

    def compute_loss(self, model, inputs, return_outputs=False):
        out = model(**inputs)
        with torch.no_grad():
            wanted = self.reference(self.anchors).pooler_output  # expect: PLM080
            # trap: of this batch
            other = self.reference(inputs["input_ids"]).pooler_output
        loss = out.loss + F.mse_loss(out.pooler_output, wanted) + F.mse_loss(out.pooler_output, other)
        return (loss, out) if return_outputs else loss


class Canvas:
    def __init__(self, net, image):
        self.net = net.eval().requires_grad_(False)
        self.image = image.clone().requires_grad_(True)
        self.opt = torch.optim.Adam([self.image])

    def run(self, steps):
        for _ in range(steps):
            # trap: what is optimised changes
            self.net(self.image).mean().backward()
            self.opt.step()
            self.opt.zero_grad()
