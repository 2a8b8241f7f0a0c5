import torch
from tqdm import tqdm
from elsewhere import CycleIterator, Policy, ReplayBuffer, batch_to_device, prepare_sample, preprocessor, to_device

device = torch.device("cuda")


def fit(state, train_dataloader, optimizer):
    model = state["model"]
    batches = CycleIterator(train_dataloader)
    while True:
        batch = next(batches)
        input_ids, targets = batch["input_ids"], batch["labels"]
        loss = model(input_ids).mean()
        loss.backward()
        optimizer.step()
        rows = [0, 2]
        kept = input_ids[rows]  # expect: PLM070
        # trap: nobody says where the labels are
        targets[rows].sum()
        kept.sum()


def sent(model, loader, optimizer, rows: list):
    for batch in loader:
        batch = to_device(batch, device)
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        batch["labels"][list(rows)].sum()  # expect: PLM070


def in_place(recipe, loader, optimizer, rows: list):
    for batch in loader:
        batch_to_device(batch, device)
        recipe.loss_step(batch).backward()
        optimizer.step()
        batch["labels"][list(rows)].sum()  # expect: PLM070


def to_the_host(recipe, loader, optimizer, rows: list):
    for batch in loader:
        recipe.loss_step(batch).backward()
        optimizer.step()
        # trap: they are brought back
        batch = to_device(batch, "cpu")
        batch["labels"][list(rows)].sum()


def squeezed(model, loader, optimizer, rows: list):
    for data in loader:
        ids, mask = data
        ids = ids.squeeze(1).to(device)
        model.loss(ids).backward()
        optimizer.step()
        ids[list(rows)].sum()  # expect: PLM070
        # trap: still where the loader put it
        mask[list(rows)].sum()


def by_key(model, loader, optimizer, rows: list):
    for batch in loader:
        images, texts = batch["image"], batch["text"]
        texts = texts.to(device=device, non_blocking=True)
        model.loss(images, texts).backward()
        optimizer.step()
        texts[list(rows)].sum()  # expect: PLM070


def replayed(q_net: torch.nn.Module, buffer: ReplayBuffer, optimizer, rows: list):
    while True:
        data = buffer.sample(256)
        loss = q_net(data.observations).mean()
        loss.backward()
        optimizer.step()
        data.observations[list(rows)].sum()  # expect: PLM070


def through_forward(loader, optimizer, rows: list):
    policy = Policy()
    policy.train()
    for batch in loader:
        batch = preprocessor(batch)
        loss, _ = policy.forward(batch)
        loss.backward()
        optimizer.step()
        batch["action"][list(rows)].sum()  # expect: PLM070


def d_loss(net, x_real):
    return net(x_real).mean()


def handed_on(net, fetch, optimizer, rows: list):
    while True:
        x_real = fetch().x
        d_loss(net, x_real).backward()
        optimizer.step()
        x_real[list(rows)].sum()  # expect: PLM070


def prepared(accelerator, denoiser, optimizer, train_dl, host_dl, rows: list):
    denoiser, optimizer, train_dl = accelerator.prepare(denoiser, optimizer, train_dl)
    for batch, other in zip(train_dl, host_dl):
        other[list(rows)].sum()
    for batch in tqdm(train_dl):
        reals, _ = batch["image"]
        accelerator.backward(denoiser.loss(reals))
        optimizer.step()
        reals[list(rows)].sum()  # expect: PLM070
    for batch in tqdm(host_dl):
        accelerator.backward(denoiser.loss(batch))
        optimizer.step()
        # trap: nobody says where these are
        batch["image"][list(rows)].sum()


def readied(model, batches, optimizer, scaler, rows: list):
    while True:
        samples = next(batches)
        samples = prepare_sample(samples, cuda_enabled=True)
        loss = model.train_step(samples)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        samples["image"][list(rows)].sum()  # expect: PLM070


def sent_at_once(loss_fn, ddp, batches, optimizer, rows: list):
    while True:
        images, labels = next(batches)
        images = images.to(device).to(torch.float32) / 127.5 - 1
        loss = loss_fn(net=ddp, images=images)
        loss.sum().mul(0.5).backward()
        optimizer.step()
        images[list(rows)].sum()  # expect: PLM070
        # trap: still on the host
        labels[list(rows)].sum()


def repeated(model, loader, optimizer):
    for batch in loader:
        x = batch["x"].to(device)
        model.loss(x).backward()
        optimizer.step()
        rows = [0] * 4
        x[rows].sum()  # expect: PLM070
