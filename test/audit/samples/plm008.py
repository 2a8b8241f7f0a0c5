import torch


def second_order(model, x, deep):
    loss = model(x).sum()
    loss.backward(create_graph=True)  # expect: PLM008
    # trap: returns the gradients, and stores none
    torch.autograd.grad(loss, model.parameters(), create_graph=True)
    # trap: decided elsewhere
    loss.backward(create_graph=deep)
    # trap: not asked for
    loss.backward(create_graph=False)
