import torch  # noqa: F401


def train(model, loader, optimizer, wanted):
    model.train()
    for batch in loader:
        out = model(batch, output_attentions=True)  # expect: PLM047
        # trap: decided elsewhere
        other = model(batch, output_attentions=wanted)
        # trap: not asked for
        quiet = model(batch, output_attentions=False)
        (out.loss + other.loss + quiet.loss).backward()
        optimizer.step()


def train_values(model, loader, optimizer):
    for batch in loader:
        # trap: taken apart by position, from a model with a head that needs them
        _, _, values = model(**batch, output_hidden_states=True)
        values.mean().backward()
        optimizer.step()
