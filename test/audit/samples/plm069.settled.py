import wandb
from torch.nn import functional as F


def fit(net, loader, optimizer, args, every):
    should_write = (not args.distributed) or args.rank == 0
    should_log = should_write and args.use_wandb
    should_show = args.rank == 0
    debug = args.debug
    is_test = args.mode == "test"
    for step, (x, y) in enumerate(loader):
        loss = F.mse_loss(net(x.cuda()), y.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        should_tell = args.rank == 0 and step % every == 0
        if should_log:
            wandb.log({"loss": loss})  # expect: PLM069
        if should_tell:
            # trap: now and then
            wandb.log({"told": loss})
        if should_log and step % every == 0:
            # trap: now and then, of those that log
            wandb.log({"rare": loss})
        if should_show and should_tell:
            # trap: now and then
            wandb.log({"shown": loss})
        if debug:
            # trap: off unless somebody asks for it
            wandb.log({"debug": loss})
        if is_test:
            # trap: of another run
            wandb.log({"test": loss})


class Fitting:
    def __init__(self, net, optimizer, rank, every):
        self.net = net.cuda()
        self.optimizer = optimizer
        self.every = every
        self.should_log = rank == 0
        self.should_save = False

    def fit(self, loader):
        for step, (x, y) in enumerate(loader):
            loss = F.mse_loss(self.net(x.cuda()), y.cuda())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.should_log:
                wandb.log({"loss": loss})  # expect: PLM069
            self.should_save = step % self.every == 0
            if self.should_save:
                # trap: written anew in every turn
                wandb.log({"saved": loss})
