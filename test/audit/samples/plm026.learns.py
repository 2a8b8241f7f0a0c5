import torch
from torch.utils.data import DataLoader
from tqdm import tqdm

from nets import Classifier


def train(dataset, epochs):
    model = Classifier().cuda()
    loader = DataLoader(dataset, batch_size=8)
    bar = tqdm(total=epochs)
    for _ in range(epochs):
        for x, y in loader:
            x, y = x.cuda(), y.cuda()
            # trap: what learns from a batch by itself hands back numbers, as far as anyone can tell
            losses = model.train_a_batch(x, y)
            bar.set_description("loss {:.3}".format(losses["total"]))
            x = model.mix(x, y)
            model.optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            model.optimizer.step()
            bar.set_postfix(loss=loss)  # expect: PLM026
