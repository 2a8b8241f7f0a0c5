import torch


def train(student, teacher, anchors, loader, optimizer):
    student.train()
    for images, labels in loader:
        with torch.no_grad():
            wanted = teacher(anchors)  # expect: PLM080
        loss = (student(anchors) - wanted).pow(2).mean() + (student(images) - labels).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def follow(student, average, anchors, loader, optimizer):
    for images, labels in loader:
        # trap: it follows the student
        with torch.no_grad():
            wanted = average(anchors)
            for mine, theirs in zip(average.parameters(), student.parameters()):
                mine.lerp_(theirs, 0.01)
        loss = (student(images) - labels).pow(2).mean() + (student(anchors) - wanted).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def fit(net, anchors, loader, make):
    optimizer = make(net)
    for images, labels in loader:
        # trap: what made the optimizer was given it
        with torch.no_grad():
            wanted = net(anchors)
        loss = (net(images) - labels).pow(2).mean() + wanted.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def shared(student, judge, anchors, loader, optimizer):
    for images, labels in loader:
        # trap: another call gives one that trains
        with torch.no_grad():
            wanted = judge(anchors)
        loss = (student(images) - labels).pow(2).mean() + (student(anchors) - wanted).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def main(student, loader, anchors, load, make):
    teacher = load("teacher").cuda()
    teacher.eval()
    average = load("average").cuda().eval()
    net = load("net").cuda().eval()
    optimizer = torch.optim.AdamW(student.parameters(), fused=True)
    train(student, teacher, anchors, loader, optimizer)
    follow(student, average, anchors, loader, optimizer)
    fit(net, anchors, loader, make)
    shared(student, teacher, anchors, loader, optimizer)
    shared(student, student, anchors, loader, optimizer)
