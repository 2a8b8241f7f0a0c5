"""What is gathered together comes back in as many parts."""

import torch


@torch.no_grad()
def judge(net, val_loader, accelerator):
    net.cuda().eval()
    kept, answers, named, placed = [], [], [], []
    for images, labels in val_loader:
        guess, wanted = accelerator.gather_for_metrics((net(images), labels))
        kept.append(guess)  # expect: PLM003
        # trap: the labels, a number for each picture
        answers.append(wanted)
        both = accelerator.gather_for_metrics({"logits": net(images), "labels": labels})
        named.append(both["logits"])  # expect: PLM003
        # trap: the labels again
        answers.append(both["labels"])
        pair = accelerator.gather_for_metrics([labels, net(images)])
        # trap: the first of the two
        answers.append(pair[0])
        placed.append(pair[1])  # expect: PLM003
        # trap: on the host
        answers.append(pair[1].cpu())
    return kept, answers, named, placed
