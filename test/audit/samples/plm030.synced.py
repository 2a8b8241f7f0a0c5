import torch
from accelerate import Accelerator


def train(model, loader, optimizer, bar, log_steps):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    done = 0
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).sum())
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients and accelerator.is_main_process:
            torch.cuda.synchronize()  # expect: PLM030
            bar.update(1)
        done += 1
        if accelerator.sync_gradients and done % log_steps == 0:
            # trap: now and then
            torch.cuda.synchronize()
            bar.update(1)


def train_below(model, loader, optimizer, bar, log_steps):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    done = 0
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).sum())
            optimizer.step()
            optimizer.zero_grad()
        done += 1
        stepped = accelerator.sync_gradients
        if not stepped:
            continue
        torch.cuda.synchronize()  # expect: PLM030
        bar.update(1)


def train_seldom(model, loader, optimizer, bar, log_steps):
    accelerator = Accelerator(gradient_accumulation_steps=4)
    done = 0
    for x in loader:
        with accelerator.accumulate(model):
            accelerator.backward(model(x).sum())
            optimizer.step()
            optimizer.zero_grad()
        done += 1
        if done % log_steps != 0:
            continue
        if not accelerator.sync_gradients:
            continue
        # trap: of these turns the last of a few
        torch.cuda.synchronize()
        bar.update(1)
