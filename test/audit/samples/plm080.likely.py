import torch
import torch.nn.functional as F


def train(loader, model, optimizer, clip_model, class_tokens, teacher, fixed_images, head):
    for images, labels in loader:
        with torch.no_grad():
            words = clip_model.encode_text(class_tokens)  # likely: PLM080
            wanted = teacher(fixed_images)  # expect: PLM080
            # trap: another batch in each turn
            soft = teacher(images)
            # trap: drawn anew each time
            noisy = teacher(torch.randn_like(fixed_images))
        loss = F.cross_entropy(model(images) @ words.t(), labels) + (soft - wanted + noisy).pow(2).mean()
        loss.backward()
        optimizer.step()


def renewed(loader, model, optimizer, teacher, anchors):
    for images in loader:
        with torch.no_grad():
            # trap: it is given other weights in each step
            wanted = teacher(anchors)
        loss = (model(images) - wanted).pow(2).mean()
        loss.backward()
        optimizer.step()
        update_average(teacher, model)


class Distiller(torch.nn.Module):
    def __init__(self, student, teacher, stages):
        super().__init__()
        self.student = student
        self.teacher = teacher
        self.stages = torch.nn.ModuleList(stages)

    def forward(self, image):
        loss = 0.0
        for i, stage in enumerate(self.stages):
            with torch.no_grad():
                _, feats = self.teacher(image)  # likely: PLM080
            loss = loss + F.mse_loss(stage(self.student(image, i)), feats[i])
        for _ in range(4):
            # trap: what is run so often is meant to drop something else each time
            loss = loss + self.student(image, 0).var()
        return loss


def main(epochs, train_loader, val_loader, model_t, model_s, criterion, optimizer):
    for epoch in range(epochs):
        train_epoch(train_loader, model_s, criterion, optimizer)
        teacher_acc = validate(val_loader, model_t, criterion)  # likely: PLM080
        # trap: it has learnt since
        test_acc = validate(val_loader, model_s, criterion)
        print(epoch, teacher_acc, test_acc)


class Mixer(torch.nn.Module):
    def training_step(self, batch, optimizer):
        for part in batch:
            balance = self.balance(part).sigmoid()
            # trap: a bound of a tensor, and no network that is called CLIP
            weight = self.weights.clip(min=0)
            loss = (weight * balance).mean()
            loss.backward()
            # trap: of gradients
            self.clip_gradients(optimizer, gradient_clip_val=1.0)
            optimizer.step()
