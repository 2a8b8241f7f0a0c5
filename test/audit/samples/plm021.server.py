def receive(model, optimizer, gradients):
    for parameter, gradient in zip(model.parameters(), gradients):
        parameter.grad += gradient
    optimizer.step()
    # trap: added to by hand, so they must be there
    optimizer.zero_grad(set_to_none=False)
