import lightning as L
from lightning.fabric.strategies import FSDPStrategy


def train(model, optimizer, loader):
    fabric = L.Fabric(devices=4, strategy=FSDPStrategy())
    for batch in loader:
        loss = model(batch).mean()
        fabric.backward(loss)
        # trap: shards are clipped without a look
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
        optimizer.zero_grad()
