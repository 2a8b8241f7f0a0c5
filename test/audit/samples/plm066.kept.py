import torch
import torch.nn.functional as F
from transformers import CLIPTextModel


class Painter:
    def __init__(self, args, unet):
        self.reader = CLIPTextModel.from_pretrained(args.path).cuda()
        self.unet = unet.cuda()
        optimizer_cls = torch.optim.SGD if args.plain else torch.optim.AdamW
        self.optimizer = optimizer_cls(self.unet.parameters(), lr=args.lr)

    def train(self, loader):
        self.unet.train()
        for noisy, noise, ids in loader:
            words = self.reader(ids.cuda())[0]  # expect: PLM066
            loss = F.mse_loss(self.unet(noisy.cuda(), words), noise.cuda())
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()


class Both:
    def __init__(self, args, unet):
        import bitsandbytes as bnb

        self.reader = CLIPTextModel.from_pretrained(args.path).cuda()
        self.unet = unet.cuda()
        self.optimizer = torch.optim.AdamW(self.unet.parameters(), lr=args.lr)
        # trap: another optimizer has it
        self.slow = bnb.optim.AdamW8bit(self.reader.parameters(), lr=args.lr / 10)

    def train(self, loader):
        self.unet.train()
        for noisy, noise, ids in loader:
            words = self.reader(ids.cuda())[0]
            loss = F.mse_loss(self.unet(noisy.cuda(), words), noise.cuda())
            loss.backward()
            self.optimizer.step()
            self.slow.step()
            self.optimizer.zero_grad()
            self.slow.zero_grad()
