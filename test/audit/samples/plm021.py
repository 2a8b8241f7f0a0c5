import torch  # noqa: F401


def train(model, loader, optimizer, keep):
    for batch in loader:
        optimizer.zero_grad(set_to_none=False)  # expect: PLM021
        model.zero_grad(False)  # expect: PLM021
        # trap: freed
        optimizer.zero_grad(set_to_none=True)
        # trap: freed, the default
        optimizer.zero_grad()
        # trap: decided elsewhere
        optimizer.zero_grad(set_to_none=keep)
        model(batch).backward()
        optimizer.step()


class Wrapper:
    # trap: a definition
    def zero_grad(self, set_to_none=False):
        self.optimizer.zero_grad(set_to_none=set_to_none)
