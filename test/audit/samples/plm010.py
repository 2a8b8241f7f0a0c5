import torch


def step(model, batch):
    try:
        loss = model(batch).sum()
        loss.backward()
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        for half in batch.chunk(2):
            model(half).sum().backward()  # expect: PLM010


def outside(model, batch):
    failed = False
    try:
        model(batch).sum().backward()
    except RuntimeError as error:
        if "out of memory" not in str(error):
            raise
        # trap: only noted here
        failed = True
        model.zero_grad()
    if failed:
        for half in batch.chunk(2):
            model(half).sum().backward()


def skipped(model, batch, log):
    try:
        model(batch).sum().backward()
    except torch.cuda.OutOfMemoryError:
        # trap: skipped, not retried
        log.warning("skipped")
        torch.cuda.empty_cache()


def other(model, path):
    try:
        return model(path)
    except KeyError:
        # trap: another error
        return model(None)


def served(model, requests, json):
    try:
        for request in requests:
            yield json.dumps(model(request)).encode()
    except torch.cuda.OutOfMemoryError as error:
        # trap: an answer, not another attempt
        yield json.dumps({"error": str(error)}).encode()
