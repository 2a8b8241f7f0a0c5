import io
import pickle

import torch

device = torch.device("cuda")


def load(path, options, model):
    # What is handed out as it comes has no fix.
    a = torch.load(path)  # expect: PLM049, by hand
    b = torch.load(path, weights_only=True)  # expect: PLM049
    # trap: said
    c = torch.load(path, map_location="cpu")
    # trap: said by position
    d = torch.load(path, device)
    # trap: may be in the options
    e = torch.load(path, **options)
    # trap: another load
    f = pickle.load(path)
    model.load_state_dict(a)
    model.load_state_dict(b["state_dict"])
    return a, c, d, e, f


def words(fn):
    # trap: made on the host, as its name says
    corpus = torch.load(fn)
    return corpus


def load_schedule(folder):
    # trap: a few numbers
    return torch.load(folder + "/scheduler.pt")


def cached(cached_features_file):
    # trap: made on the host
    return torch.load(cached_features_file)


def resume(folder, rank, model):
    torch.distributed.init_process_group("nccl")
    path = folder + "/queue" + str(rank) + ".pt"
    # trap: the rank's own file, on the rank's own device (a note)
    queue = torch.load(path)  # expect: PLM049, by hand
    return queue, torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank], gradient_as_bucket_view=True)


READING = {"weights_only": True}
ELSEWHERE = {"map_location": "cpu"}


def read(path, sent):
    with open(path, "rb") as f:
        held = io.BytesIO(f.read())
    a = torch.load(path, **READING).cuda()  # expect: PLM049
    # trap: said
    b = torch.load(path, **ELSEWHERE)
    c = torch.load(held)["weight"].to(device)  # expect: PLM049
    # trap: a message
    d = torch.load(io.BytesIO(sent.read()))
    return a, b, c, d
