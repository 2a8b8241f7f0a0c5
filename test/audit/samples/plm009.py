import torch  # noqa: F401


def train(model, loader, optimizer):
    model.train()
    for batch in loader:
        outputs = model(**batch)  # expect: PLM009
        loss = outputs.loss
        loss.backward()
        optimizer.step()


def deleted(model, loader, optimizer):
    model.train()
    for batch in loader:
        # trap: deleted already
        outputs = model(**batch)
        loss = outputs.loss
        loss.backward()
        del outputs
        optimizer.step()


def used_after(model, loader, optimizer):
    model.train()
    for batch in loader:
        # trap: read after the loop
        outputs = model(**batch)
        outputs.loss.backward()
        optimizer.step()
    return outputs.logits


def only_loss(model, loader, optimizer):
    model.train()
    for batch in loader:
        # trap: nothing but the loss is kept
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()


def handed_on(model, loader, optimizer, keep):
    model.train()
    for batch in loader:
        # trap: somebody else has it
        outputs = model(**batch)
        keep(outputs)
        outputs.loss.backward()
        optimizer.step()
