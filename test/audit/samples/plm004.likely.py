import torch.nn as nn
import torch.nn.functional as F

from mylib import Encoder, fancy_attention

FEATS = {}
LAST = None


class Block(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.enc = Encoder(dim)
        self.head = nn.Linear(dim, 10)
        self.debug = {}
        self.trace = []
        self.stats = None

    def forward(self, x, mask=None):
        h, att = self.enc(x, mask)
        self.last_hidden = h  # expect: PLM004
        self.debug["att"] = att  # expect: PLM004
        self.debug.update(pooled=h.mean(1))  # likely: PLM004
        self.trace = [h, att]  # expect: PLM004
        FEATS[id(self)] = h  # likely: PLM004
        self.stats = {"norm": h.norm(dim=-1)}  # expect: PLM004
        setattr(self, "activation", h)  # expect: PLM004
        z = fancy_attention(h)
        self.out_map = z  # likely: PLM004
        return self.head(z)

    def show(self):
        return self.out_map.detach().cpu()


class Plain(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.fc = nn.Linear(dim, dim)

    def forward(self, x):
        global LAST
        y = self.fc(x)
        LAST = y  # likely: PLM004
        self.y_seen = y  # expect: PLM004
        # trap: detached
        self.seen = y.detach()
        # trap: added to the loss
        self.penalty_map = y.abs()
        return y

    def regulariser(self):
        return self.penalty_map.mean()


class Agent:
    def __init__(self, net, critic, opt):
        self.net, self.critic, self.opt = net, critic, opt
        self.info = {}

    def update(self, batch):
        q1, q2 = self.critic(batch["obs"], batch["act"])
        target = batch["target"]
        loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.last_q = q1  # expect: PLM004
        self.info["q2"] = q2  # expect: PLM004
        self.info = dict(q=q1, td=target - q2)  # expect: PLM004
        # trap: a number
        self.last_loss = loss.item()
        # trap: what the replay gave
        self.last_target = target
        return loss.item()


class Trainer:
    def train_step(self, images, labels):
        logits = self.model(images)
        self.preds = logits.softmax(-1)  # expect: PLM004
        loss = self.criterion(logits, labels)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def report(self):
        print(self.preds.argmax(-1))


def watch(model):
    acts = {}
    store = []

    def hook(module, inp, out):
        acts[module] = out[0].mean(1)  # likely: PLM004

    def hook2(name):
        def inner(m, i, o):
            acts[name] = (i[0], o)  # likely: PLM004
        return inner

    def hook3(m, i, o):
        store.append((m, o))  # likely: PLM004

    for n, m in model.named_modules():
        m.register_forward_hook(hook)
        m.register_forward_hook(hook2(n))
        m.register_forward_hook(hook3)
    return acts, store


class Recorder:
    def __init__(self, model):
        self.outputs = {}
        for n, m in model.named_modules():
            m.register_forward_hook(self.make(n))

    def make(self, name):
        def fn(_, __, output):
            self.outputs[name] = output  # expect: PLM004
        return fn


def train(model, loader, opt, info):
    for x, y in loader:
        out = model(x)
        loss = F.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        info.last_out = out  # expect: PLM004
        info["out"] = out  # likely: PLM004
        model.cached_out = out  # expect: PLM004


class Reconstruction(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder

    def last_reconstruction(self):
        return self.decoder(self.last_pred).detach().cpu()

    def get_sigma_loss(self):
        return self.spread

    def forward(self, x):
        latent = self.encoder(x)
        pred = self.decoder(latent)
        self.last_pred = pred  # likely: PLM004
        # trap: part of a loss
        self.spread = self.encoder(latent)
        return (pred - x).pow(2).mean()


class Restorer:
    def optimize_parameters(self, step):
        preds = self.net(self.low)
        if not isinstance(preds, list):
            preds = [preds]
        # trap: differentiated below, only the picture stays
        self.output = preds[-1]
        loss = self.crit(preds[-1], self.target)
        loss.backward()
        self.optimizer.step()


class Box(nn.Module):
    def __init__(self, teacher, student):
        super().__init__()
        self.teacher = teacher

        def extract(self, inputs, output):
            # trap: found again by who computes the loss
            self.__dict__["box"]["output"] = output

        teacher.register_forward_hook(extract)
        student.register_forward_hook(extract)

    def forward(self, x):
        self.teacher(x)
        return self.crit(self.teacher.__dict__["box"]["output"], x)
