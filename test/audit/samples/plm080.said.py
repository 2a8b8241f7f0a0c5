"""What a class is told to say once for all."""

import torch


class Draws:
    def __init__(self, opt, field, guide, tuned):
        self.opt = opt
        self.field = field.cuda()
        self.guide = guide.cuda()
        self.tuned = tuned.cuda()
        for p in self.guide.parameters():
            p.requires_grad = False
        self.optimizer = torch.optim.Adam([*self.field.parameters(), *self.tuned.parameters()])

    def step(self, view, words):
        made = self.field(view)
        told = self.guide.get_text_embeds([self.opt.prompt], [self.opt.negative])  # expect: PLM080
        # trap: of the batch
        given = self.guide.get_text_embeds(words, [self.opt.negative])
        # trap: it learns
        learnt = self.tuned.get_text_embeds([self.opt.prompt], [self.opt.negative])
        return self.guide(made, told + given + learnt).mean()

    def train(self, loader):
        for view, words in loader:
            self.optimizer.zero_grad()
            loss = self.step(view.cuda(), words)
            loss.backward()
            self.optimizer.step()
