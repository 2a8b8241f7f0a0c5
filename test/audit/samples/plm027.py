import torch
import torch.nn.functional as F
from transformers import TrainingArguments

device = torch.device("cuda")


def train(model, loader, optimizer, weight=None):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        if torch.isnan(loss):  # expect: PLM027
            continue
        assert loss > 0  # expect: PLM027
        worst = max(loss, loss * 2)  # expect: PLM027
        loss.backward()
        optimizer.step()
        # trap: no tensor
        if step > 10 and loss.shape:
            print(max(step, 3))
        # trap: looked at only in half precision
        if loss.dtype == torch.float16 and torch.isinf(loss):
            continue
        # trap: identity is known to Python
        if weight is not None and loss is not None:
            print(worst.shape)
        if step % 100 == 0:
            # trap: now and then
            assert torch.isfinite(loss)


args = TrainingArguments("out", logging_nan_inf_filter=True)  # expect: PLM027


def train_with_settings(model, criterion, loader, optimizer, args, epoch):
    for x, y in loader:
        # trap: settings and counters are passed along, and are no tensors
        loss = criterion(model(x, args), y, epoch)
        if args.clip:
            model.zero_grad()
        if epoch >= args.freeze:
            model.train()
        loss.backward()
        optimizer.step()


def train_with_teacher_forcing(model, criterion, loader, optimizer, epoch):
    batches_seen = loader.batches * epoch
    for x, y in loader:
        output = model(x.cuda(), y.cuda(), batches_seen)
        # trap: a counter, whatever the network does with it
        if batches_seen == 0:
            optimizer = torch.optim.Adam(model.parameters())
        loss = criterion(output, y.cuda())
        batches_seen += 1
        loss.backward()
        optimizer.step()
