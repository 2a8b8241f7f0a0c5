import torch


def learn_words(net, ids, count):
    for at in range(1, ids.shape[1]):
        loss = -net(ids[:, :at]).log_softmax(-1).gather(-1, ids[:, at : at + 1]).mean()
        (loss / count).backward()


def look(net, ids):
    with torch.no_grad():
        return net(ids).mean()


def fit(net, batches, optimizer, count):
    net.cuda()
    for step in range(1000):
        optimizer.zero_grad()
        for _ in range(count):
            learn_words(net, next(batches), count)
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # expect: PLM079
        optimizer.step()


def fit_well(net, batches, optimizer, count):
    net.cuda()
    for step in range(1000):
        optimizer.zero_grad()
        for _ in range(count):
            learn_words(net, next(batches), count)
        # trap: once, of the whole
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        for _ in range(2):
            # trap: nothing is added up here
            look(net, next(batches))
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
