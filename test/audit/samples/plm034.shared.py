import torch


class SharedAdam(torch.optim.Adam):
    def share_memory(self):
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["average"].share_memory_()

    def train_step(self):
        for group in self.param_groups:
            for p in group["params"]:
                # trap: processes share it in the memory of the host
                p.data.add_(p.grad, alpha=-group["lr"])
