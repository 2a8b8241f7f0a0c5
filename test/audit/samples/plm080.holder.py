import torch
from project.data import fixed_pictures
from project.trainers import Trainer
from project.transforms import normalized

trainer = Trainer()
display_images = fixed_pictures().cuda()


def train(loader, writer, log_iter):
    for step, images in enumerate(loader):
        images = images.cuda()
        trainer.dis_update(images)
        trainer.gen_update(images)
        with torch.no_grad():
            wanted = trainer.vgg(normalized(display_images))  # likely: PLM080
            # trap: another batch in each turn
            found = trainer.vgg(normalized(images))
            trainer.gap = (wanted.mean() - found.mean()).pow(2)
            # trap: they are what the turn has left there
            kept = trainer.vgg(trainer.shown)
            trainer.shown = images
            # trap: another network in each turn
            first = trainer.ref_model(display_images)
            trainer.ref_model = trainer.next_model()
        if step % log_iter == 0:
            writer.add_scalar("gap", trainer.gap - kept.mean() - first.mean(), step)


def learn(agent, loader, optimizer, criterion, anchors):
    for batch in loader:
        optimizer.zero_grad()
        with torch.no_grad():
            far = agent.teacher.encode(anchors)  # expect: PLM080
        loss = criterion(agent.student(batch), far)
        agent.last_loss = loss.detach()
        loss.backward()
        optimizer.step()
