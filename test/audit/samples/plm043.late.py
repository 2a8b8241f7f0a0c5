import numpy as np
import torch
from torch.utils.data import DataLoader


class Experiment:
    def train(self, loader):
        for batch_x, batch_y, batch_x_mark in loader:
            loss = self.process(batch_x, batch_y, batch_x_mark)
            loss.backward()
            self.optimizer.step()

    def process(self, batch_x, batch_y, batch_x_mark):
        batch_x = batch_x.to(self.device).float()  # likely: PLM043
        batch_y = batch_y.float()
        batch_x_mark = batch_x_mark.float().to(self.device)
        return self.criterion(self.model(batch_x, batch_x_mark), batch_y.to(self.device))


class Embedding:
    def embed(self, times, near):
        deltas = times[:, np.newaxis] - near
        made = torch.from_numpy(deltas).to(self.device)  # likely: PLM043
        return self.encoder(made.float())

    def by_name(self, spreads):
        rows = torch.from_numpy(spreads)  # likely: PLM043
        print(rows.shape)
        return self.encoder(rows.to(self.device).float())

    def before(self, spreads):
        # trap: cast before it is sent
        rows = torch.from_numpy(spreads)
        return self.encoder(rows.float().to(self.device))

    def of_bytes(self, images):
        # trap: bytes are better cast there
        rows = torch.from_numpy(images).to(self.device)
        return self.encoder(rows.float())


def mixed(net, labelled, unlabelled, optimizer, criterion):
    others = iter(unlabelled)
    for inputs, labels, w_x in labelled.loader:
        more, w_u = next(others)
        w_x = w_x.view(-1, 1)  # likely: PLM043
        inputs, labels, w_x = inputs.cuda(), labels.cuda(), w_x.cuda()
        guessed = torch.softmax(net(inputs), dim=1)
        aimed = w_x * labels + (1 - w_x) * guessed
        w_u = w_u.cuda()[:, None]
        loss = criterion(net(inputs), aimed)
        loss.backward()
        optimizer.step()


def weighed(net, loader, optimizer, losses):
    for batch in loader:
        inputs, labels, weights = batch
        inputs, labels = inputs.cuda(), labels.cuda()
        each = losses(net(inputs), labels)
        weights = weights.to("cuda").unsqueeze(1)  # likely: PLM043
        loss = (each * weights).mean()
        loss.backward()
        optimizer.step()


def weighed_alike(net, loader, optimizer, losses):
    for inputs, labels, weights in loader:
        # trap: made float32 before it is sent
        weights = weights.view(-1, 1).type(torch.FloatTensor).cuda()
        loss = (losses(net(inputs.cuda()), labels.cuda()) * weights).mean()
        loss.backward()
        optimizer.step()


def pictures(net, loader, optimizer, losses):
    for batch_images, batch_weights in loader:
        # trap: bytes are better cast there, whatever the other is
        batch_images = batch_images.to("cuda").float()
        loss = losses(net(batch_images), batch_weights.float().to("cuda"))
        loss.backward()
        optimizer.step()


def in_turn(model, loader, optimizer, device):
    for batch in loader:
        x, y, marks = map(lambda part: part.to(device).float(), batch)  # likely: PLM043
        # trap: cast before it is sent
        more = [part.float().to(device) for part in batch]
        # trap: some of it only
        some = [part.to(device).float() for part in batch if part.dim() > 1]
        loss = (model(x, marks, more, some) - y).pow(2).mean()
        loss.backward()
        optimizer.step()


def pictures(model, loader, optimizer, device):
    for image_batch in loader:
        # trap: bytes are better cast there
        images = [part.to(device).float() for part in image_batch]
        model(images).mean().backward()
        optimizer.step()


class Acting:
    def act(self, sensed, images):
        # trap: cast before it is sent
        other = torch.from_numpy(sensed.reshape(1, -1)).float().to(self.device)
        # trap: bytes are better cast there
        seen = torch.from_numpy(images[None]).to(self.device).float()
        self.look(seen)
        row = torch.from_numpy(sensed.reshape(1, -1)).to(self.device).float()  # likely: PLM043
        return self.actor(row) + self.actor(other)

    def learn(self, gains, optimizer):
        weights = torch.DoubleTensor(gains).to(self.device).float()  # expect: PLM043
        # trap: who computes in float64 wants it
        exact = torch.DoubleTensor(gains).to(self.device)
        loss = (weights * self.losses()).sum() + (exact * self.exact_losses()).sum()
        loss.backward()
        optimizer.step()
