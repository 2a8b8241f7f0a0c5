import torch


def append_to_dict(kept, key, value):
    kept.setdefault(key, []).append(value)


def forward(model, generator):
    kept = {}
    for batch in generator:
        with torch.no_grad():
            batch_output = model(batch["waveform"])
        append_to_dict(kept, "clips", batch_output["clips"])  # likely: PLM003
        # trap: on the host
        append_to_dict(kept, "frames", batch_output["frames"].cpu().numpy())
    return kept


def test_epoch(val_loader, model, loss_fn):
    model.eval()
    embeddings, errors, found = [], [], []
    for data, target in val_loader:
        outputs = model(*data)
        if type(outputs) not in (tuple, list):
            outputs = (outputs,)
        embeddings.extend(outputs)  # likely: PLM003
        # trap: a number a batch
        errors.append(loss_fn(*outputs))
        # trap: a list that dies with its batch
        mine = []
        mine.append(outputs)
        found.append(len(mine))
    return embeddings, errors, found


class DreamPipeline:
    def prepare_latents(self, images, dtype):
        made = []
        if images is not None:
            for i, image in enumerate(images):
                if image.shape[1] != self.channels:
                    latents = self._encode_vae_image(image=image.to(dtype))
                else:
                    latents = image
                latents = self._pack_latents(latents)
                # trap: the images of one prompt
                made.append(latents)
        return torch.cat(made, dim=1)

    @torch.no_grad()
    def __call__(self, images, dtype):
        return self.prepare_latents(images, dtype)


def both_phases(model, loaders, optimizer, criterion):
    for phase in ("train", "validation"):
        kept, mine, whole = [], [], []
        for inputs, labels in loaders[phase]:
            with torch.set_grad_enabled(phase == "train"):
                outputs = model(inputs.cuda())
                loss = criterion(outputs, labels.cuda())
            if phase == "train":
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                # trap: of a training, which another rule speaks of
                mine.append(outputs)
            else:
                kept.append(outputs)  # likely: PLM003
                # trap: on the host
                whole.append(outputs.cpu())
        print(kept, mine, whole)
