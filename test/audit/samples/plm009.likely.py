import torch
import torch.nn.functional as F


def pixel_accuracy(segmentation, truth):
    return (segmentation.argmax(1) == truth).float().mean()


def train(model, loader, optimizer, meter):
    for images, truth in loader:
        scores = model(images.cuda())
        loss = F.cross_entropy(scores, truth.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        pixel_probs = torch.softmax(scores.detach(), dim=1)  # likely: PLM009
        meter.add(pixel_probs, truth)


def tidy(model, loader, optimizer, meter):
    for images, truth in loader:
        scores = model(images.cuda())
        loss = F.cross_entropy(scores, truth.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: deleted
        pixel_probs = torch.softmax(scores.detach(), dim=1)
        meter.add(pixel_probs, truth)
        del pixel_probs


def handed(model, loader, optimizer, keep):
    for images, truth in loader:
        # trap: somebody else has it
        outputs = model(images.cuda())
        keep(outputs)
        loss = F.cross_entropy(outputs, truth.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


class Agent:
    def _train(self, batch):
        made = self.net(batch)
        loss = made["reward"].mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return made

    def play(self, turns):
        for _ in range(turns):
            context = self._train(next(self.batches))  # likely: PLM009
            self.norms.append(context["feat"].norm().item())


@torch.no_grad()
def evaluate(model, val_loader, meter):
    for images, truth in val_loader:
        # trap: without activations it is small beside what a forward has
        pred = model(images.cuda())
        meter.add(pred, truth)


def show_pictures(generator, critic, optimizer, loader, writer):
    def training_step(noise):
        made = generator(noise)
        loss = critic(made).mean()
        loss.backward()
        optimizer.step()
        return {"loss": loss.cpu().item()}, made.detach()

    for noise in loader:
        # trap: a few pictures, which have no graph
        losses, gen_images = training_step(noise.cuda())
        writer.add(losses["loss"], gen_images)
