import torch
import torch.nn as nn


def train(model, tagger, loader, optimizer, dictionary):
    criterion = nn.CrossEntropyLoss(ignore_index=dictionary.pad)
    model.cuda()
    tagger.cuda()
    for sample in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out, _ = model(sample["images"], sample["inputs"])
            tags = tagger(sample["inputs"])
            kind = model.kind(sample["images"])
        loss = criterion(out.float().view(-1, out.size(-1)), sample["caption_tokens"].view(-1))  # expect: PLM046
        # trap: tags of tokens are few
        loss = loss + criterion(tags.float().view(-1, tags.size(-1)), sample["token_tags"].view(-1))
        # trap: a row an example
        loss = loss + criterion(kind.float(), sample["first_token"])
        # trap: not what says which tokens they are
        loss = loss + criterion(kind.float().view(-1, kind.size(-1)), sample["kinds"].view(-1))
        loss.backward()
        optimizer.step()


def named(model, loader, optimizer):
    criterion = nn.CrossEntropyLoss()
    model.cuda()
    for tokens in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            out = model(tokens[:, :-1])
        wide = out.float()  # expect: PLM046
        following = tokens[:, 1:]
        loss = criterion(wide.reshape(-1, wide.shape[-1]), following.reshape(-1))
        loss.backward()
        optimizer.step()


def shifted(model, loader, optimizer):
    model.cuda()
    for batch in loader:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            results = model(**batch)
        scores = results[0][:, :-1].float()  # expect: PLM046
        loss = nn.functional.cross_entropy(scores.transpose(1, 2), batch["ids"][:, 1:])
        loss.backward()
        optimizer.step()
