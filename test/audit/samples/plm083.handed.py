import time

import torch


def epoch(task, loader, optimizer, meter, device):
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)

        def forward():
            started = time.perf_counter()
            with torch.autocast("cuda"):
                given = task(images, labels)
                loss = given["loss"]
            meter.update(time.perf_counter() - started)  # expect: PLM083
            return loss

        def waited():
            started = time.perf_counter()
            with torch.autocast("cuda"):
                given = task(images, labels)
                loss = given["loss"]
            torch.cuda.synchronize()
            # trap: waits first
            meter.update(time.perf_counter() - started)
            return loss

        def fetched(source):
            started = time.perf_counter()
            batch = source(images)
            # trap: nothing says that this runs a network
            meter.update(time.perf_counter() - started)
            return batch["name"]

        optimizer.zero_grad()
        (forward() + waited() + fetched(len)).backward()
        optimizer.step()


def plain(task, loader, optimizer, meter):
    for batch in loader:
        started = time.perf_counter()
        given = task(batch.cuda())
        meter.update(time.perf_counter() - started)  # expect: PLM083
        given["loss"].backward()
        optimizer.step()
        optimizer.zero_grad()
