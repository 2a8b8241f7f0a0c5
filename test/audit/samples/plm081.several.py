import torch


def train(student, teacher, loader, crit, opt, layers):
    student.cuda()
    teacher.cuda().eval()
    for x, y in loader:
        x = x.cuda()
        seen, scores = student(x)
        with torch.no_grad():
            feats, wanted = teacher(x)
            feats = [f.clone().detach() for f in feats]  # expect: PLM081
        chosen = [feats[at] for at in layers]
        loss = crit(seen, chosen) + crit(scores, wanted)
        loss.backward()
        opt.step()
        opt.zero_grad()


def train_named(student, teacher, loader, crit, opt):
    for x, y in loader:
        x = x.cuda()
        with torch.no_grad():
            parts, wanted = teacher(x)
            wanted = wanted.clone()  # expect: PLM081
            parts = {name: part.clone() for name, part in parts.items()}  # expect: PLM081
        loss = crit(student(x), wanted) + sum(part.mean() for part in parts.values())
        loss.backward()
        opt.step()
        opt.zero_grad()


def train_kept(student, teacher, loader, crit, opt):
    for x, y in loader:
        x = x.cuda()
        with torch.no_grad():
            feats, queue = teacher(x)
            # trap: both are used further down
            copies = [f.clone() for f in feats]
            # trap: the network writes into its own
            queue = queue.clone()
        copies[0][:, 0] = 0
        queue[:, 0] = 0
        # trap: the graph holds what was recorded
        own, scores = student(x)
        own = [f.clone() for f in own]
        own[0][:, 0] = 0
        loss = crit(scores, queue) + crit(own[0], copies[0]) + crit(own[1], feats[1])
        loss.backward()
        opt.step()
        opt.zero_grad()
