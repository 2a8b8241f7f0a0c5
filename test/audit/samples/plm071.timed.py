import torch.distributed as dist


def train(model, loader, optimizer, args, timer):
    for batch in loader:
        # trap: whoever asks for the times needs it
        if args.timing_break_down:
            dist.barrier()
            timer.lap("data")
        model(batch).sum().backward()
        optimizer.step()
        dist.barrier()  # expect: PLM071
