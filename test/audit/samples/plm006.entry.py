def chunk(model, tokens, labels, past):
    out = model(input_ids=tokens, labels=labels, past_key_values=past, use_cache=True)
    past = out.past_key_values
    loss = out.loss
    loss.backward(retain_graph=True)
    return loss, past


def long_text(model, pieces, optimizer):
    past = None
    for tokens, labels in pieces:
        loss, past = chunk(model, tokens, labels, past)  # expect: PLM006
    optimizer.step()
    optimizer.zero_grad()
    return loss


def cut_chunk(model, tokens, labels, past):
    out = model(input_ids=tokens, labels=labels, past_key_values=past, use_cache=True)
    past = tuple(tuple(one.detach() for one in layer) for layer in out.past_key_values)
    loss = out.loss
    loss.backward()
    return loss, past


def cut_text(model, pieces, optimizer):
    past = None
    for tokens, labels in pieces:
        loss, past = cut_chunk(model, tokens, labels, past)  # trap: cut off where it is made
    optimizer.step()
    optimizer.zero_grad()
    return loss


def alone(model, tokens, labels, hidden):
    out = model(input_ids=tokens, labels=labels)
    hidden = out.hidden_states
    loss = out.loss
    loss.backward()
    return loss, hidden


def each_alone(model, pieces, optimizer):
    hidden = None
    for tokens, labels in pieces:
        loss, hidden = alone(model, tokens, labels, hidden)  # trap: the network is not given what the last turn left
        optimizer.step()
        optimizer.zero_grad()
    return loss, hidden
