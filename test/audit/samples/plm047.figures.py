import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("base").cuda()


def train_watched(loader, optimizer, metrics):
    for batch in loader:
        outputs = model(batch["ids"].cuda(), output_hidden_states=True)  # expect: PLM047
        loss = F.cross_entropy(outputs.logits.flatten(0, 1), batch["labels"].cuda().flatten())
        metrics["size"] = outputs.hidden_states[-1].detach().norm(dim=-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_named(loader, optimizer, sizes):
    for batch in loader:
        outputs = model(batch["ids"].cuda(), labels=batch["labels"].cuda(), output_hidden_states=True)  # expect: PLM047
        states = outputs.hidden_states
        sizes.append([torch.linalg.norm(layer.detach()).item() for layer in states])
        optimizer.zero_grad()
        outputs.loss.backward()
        optimizer.step()


def train_attentive(loader, optimizer, writer):
    for step, batch in enumerate(loader):
        outputs = model(batch["ids"].cuda(), labels=batch["labels"].cuda(), output_attentions=True)  # expect: PLM047
        writer.add_histogram("attention", outputs.attentions[0], step)
        optimizer.zero_grad()
        outputs.loss.backward()
        optimizer.step()


def train_against_itself(loader, optimizer):
    for batch in loader:
        # trap: what is detached is what the loss compares with
        outputs = model(batch["ids"].cuda(), labels=batch["labels"].cuda(), output_hidden_states=True)
        wanted = outputs.hidden_states[-2].detach()
        again = model(batch["changed"].cuda(), labels=batch["labels"].cuda())
        loss = again.loss + F.mse_loss(again.logits.mean(-1), wanted.mean(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def train_regularized(loader, optimizer, metrics):
    for batch in loader:
        # trap: it is trained by them as well
        outputs = model(batch["ids"].cuda(), labels=batch["labels"].cuda(), output_hidden_states=True)
        size = outputs.hidden_states[-2].square().mean()
        metrics["size"] = size.item()
        loss = outputs.loss + 0.1 * size
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
