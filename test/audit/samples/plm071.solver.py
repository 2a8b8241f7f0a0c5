import torch
import torch.distributed as dist
from solvers import StandardSolver


class CodecSolver(StandardSolver):
    def run_step(self, batch):
        loss = self.model(batch.to(self.device)).mean()
        loss.backward()
        self.optimizer.step()
        dist.barrier()  # expect: PLM071

    def run(self):
        # trap: once
        dist.barrier()


class Pix2Pix:
    def backward_G(self):
        with torch.cuda.amp.autocast():
            self.loss_G = self.netG(self.real).mean()
        self.loss_G.backward()

    def optimize_parameters(self):
        self.optimizer_G.zero_grad()
        self.backward_G()
        dist.barrier()  # expect: PLM071
        self.optimizer_G.step()
