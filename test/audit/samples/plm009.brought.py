import torch
from models import Detector, Pretraining, make_step


def words(model, loader, optimizer, tokenizer):
    model.train()
    for i, (image, text) in enumerate(loader):
        loss_mlm, loss_itm, logits_mlm = model(image.cuda(), tokenizer(text))  # likely: PLM009
        loss = loss_mlm + loss_itm
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if i % 50 == 0:
            print("largest {:.3f}".format(logits_mlm.max().item()))


def by_step(state, batches, config):
    train_step_fn = make_step(config)
    for step in range(config.steps):
        loss, losses_map = train_step_fn(state, next(batches))  # likely: PLM009
        if step % config.log_every == 0:
            print(step, loss.item(), losses_map.max().item())


def boxes(loader, optimizer):
    detector = Detector().cuda()
    detector.train()
    for images, wanted in loader:
        try:
            optimizer.zero_grad()
            if torch.cuda.is_available():
                class_loss, box_loss, scores = detector([images.cuda(), wanted])  # likely: PLM009
            else:
                class_loss, box_loss, scores = detector([images, wanted])
            loss = class_loss.mean() + box_loss.mean()
            loss.backward()
            optimizer.step()
            print(float(class_loss), float(scores.max()))
        except Exception as error:
            print(error)
            continue


def never_read(model, loader, optimizer):
    for ids, wanted in loader:
        total_loss, mlm_logits = model(ids.cuda(), wanted.cuda())  # expect: PLM009
        total_loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def deleted(model, loader, optimizer, tokenizer):
    for image, text in loader:
        # trap: deleted before the next turn
        loss_mlm, loss_itm, logits_mlm = model(image.cuda(), tokenizer(text))
        loss = loss_mlm + loss_itm
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(logits_mlm.max().item())
        del logits_mlm


def numbers(model, loader, optimizer):
    for image, text in loader:
        # trap: a number beside its loss
        loss_mlm, acc = model(image.cuda(), text)
        loss_mlm.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(acc.mean().item())


def given_on(model, loader, optimizer, kept):
    for image, text in loader:
        # trap: kept for longer anyway
        loss_mlm, logits_mlm = model(image.cuda(), text)
        loss_mlm.backward()
        optimizer.step()
        optimizer.zero_grad()
        kept.append(logits_mlm)


def matched(model, loader, optimizer):
    for image, text in loader:
        # trap: a pair of scores for each example
        loss_itm, scores = model(image.cuda(), text)
        loss_itm.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(scores.max().item())
