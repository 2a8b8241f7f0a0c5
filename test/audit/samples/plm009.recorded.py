import torch.nn.functional as F
from model import LanguageModel


def forward_step(net, ids):
    logits = net(ids)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    return {"loss": loss, "logits": logits}


def numbers(net, ids):
    logits = net(ids)
    loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    return {"loss": loss, "size": logits.abs().mean()}


def record(loader, optimizer):
    net = LanguageModel(vocab=50257).cuda()
    for step, ids in enumerate(loader):
        result = forward_step(net, ids.cuda())  # expect: PLM009
        result["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 100 == 0:
            print(result["loss"].item())


def count(loader, optimizer):
    net = LanguageModel(vocab=50257).cuda()
    for ids in loader:
        # trap: nothing large is in it
        result = numbers(net, ids.cuda())
        result["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()


def handed_on(loader, optimizer, log):
    net = LanguageModel(vocab=50257).cuda()
    for ids in loader:
        # trap: another has it as well
        result = forward_step(net, ids.cuda())
        result["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
        log(result)


def likely(loader, optimizer):
    net = LanguageModel(vocab=50257).cuda()
    for ids in loader:
        ids = ids.cuda()
        log_probs = F.log_softmax(net(ids[:, :-1]), -1)  # expect: PLM009
        picked = log_probs.gather(-1, ids[:, 1:, None])
        loss = -picked.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
