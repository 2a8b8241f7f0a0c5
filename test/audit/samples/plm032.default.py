import lightning as L


def train(fabric: L.Fabric, model, optimizer, loader, settings):
    for batch in loader:
        loss = model(batch).mean()
        fabric.backward(loss)
        fabric.clip_gradients(model, optimizer, max_norm=1.0)  # expect: PLM032
        # trap: each value by itself, which no host has to look at
        fabric.clip_gradients(model, optimizer, clip_val=0.5)
        # trap: told not to look
        fabric.clip_gradients(model, optimizer, max_norm=1.0, error_if_nonfinite=False)
        # trap: nobody knows what it is told
        fabric.clip_gradients(model, optimizer, max_norm=1.0, **settings)
        optimizer.step()
        optimizer.zero_grad()
