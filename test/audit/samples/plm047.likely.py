import torch


def train_step(wrapped, optimizer, batch):
    asked = {"output_attentions": True}  # likely: PLM047
    loss = wrapped.run(batch, **asked).loss
    loss.backward()
    optimizer.step()


def generate(wrapped, batch):
    # trap: what it writes is looked at
    return wrapped.run(batch, output_attentions=True)


def report(shown):
    # trap: nobody is called with it
    words = {"output_attentions": True}
    return shown == words
