import torch
from pytorch_lightning import LightningModule
from transformers import CLIPModel


class Guided(LightningModule):
    def __init__(self, net, name, words, tokenizer):
        super().__init__()
        self.net = net
        self.judge = CLIPModel.from_pretrained(name).requires_grad_(False)
        self.words = words
        self.last = words
        self.tokenizer = tokenizer

    def training_step(self, batch, index):
        shown = self.judge.get_image_features(pixel_values=self.net(batch["images"]))
        said = self.judge.get_text_features(**self.words.to(shown.device))  # expect: PLM080
        empty = self.judge.get_text_features(self.tokenizer([""]).input_ids.to(shown.device))  # expect: PLM080
        # trap: the words of this batch
        told = self.judge.get_text_features(self.tokenizer(batch["words"]).input_ids.to(shown.device))
        # trap: another one in each step
        before = self.judge.get_text_features(**self.last.to(shown.device))
        self.last = batch["ids"]
        return -torch.cosine_similarity(shown, said + empty + told + before).mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.net.parameters())
