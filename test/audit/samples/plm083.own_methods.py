import time

import torch

from nets import AutoEncoder


def sampling(args):
    model = AutoEncoder(args)
    model = model.cuda().eval()
    with torch.no_grad():
        for _ in range(args.rounds):
            start = time.time()
            logits = model.sample(args.samples, args.temperature)
            end = time.time()
            print("sampling time per batch: %0.3f sec" % (end - start))  # likely: PLM083
            torch.save(logits, args.path)


def waited_for(args):
    model = AutoEncoder(args)
    model = model.cuda().eval()
    with torch.no_grad():
        for _ in range(args.rounds):
            start = time.time()
            logits = model.sample(args.samples, args.temperature)
            # trap: the host has the samples when the clock is read
            pictures = logits.cpu()
            print("sampling time per batch: %0.3f sec" % (time.time() - start))
            torch.save(pictures, args.path)


def sentences(args):
    model = AutoEncoder(args)
    model = model.cuda().eval()
    with torch.no_grad():
        start = time.time()
        # trap: each token is asked whether it was the last
        ids = model.generate(args.prompt)
        print("generation: %0.3f sec" % (time.time() - start))
        torch.save(ids, args.path)


def tokens(args, tokenizer):
    model = AutoEncoder(args).cuda()
    start = time.time()
    # trap: no network's
    ids = tokenizer.encode(args.text)
    print("tokenizing: %0.3f sec" % (time.time() - start))
    return model(torch.tensor([ids], device="cuda"))
