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


def own_part(model, loader, optimizer, loss_fn, vocab_size):
    model.train()
    for tokens, labels in loader:
        output = model(tokens)  # expect: PLM009
        output = output.logits if hasattr(output, "logits") else output
        loss = loss_fn(output.view(-1, vocab_size), labels.view(-1))
        loss.backward()
        optimizer.step()


def another(model, loader, optimizer, loss_fn, vocab_size):
    model.train()
    for tokens, labels in loader:
        # trap: the name goes on to mean something else
        output = model(tokens)
        loss = loss_fn(output.view(-1, vocab_size), labels.view(-1))
        output = output.argmax(-1) if vocab_size else None
        loss.backward()
        optimizer.step()


def handed_on_part(model, loader, optimizer, loss_fn, vocab_size, keep):
    model.train()
    for tokens, labels in loader:
        # trap: somebody else has the part
        output = model(tokens)
        output = output[0] if isinstance(output, tuple) else output
        keep(output)
        loss = loss_fn(output.view(-1, vocab_size), labels.view(-1))
        loss.backward()
        optimizer.step()
