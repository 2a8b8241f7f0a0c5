import torch


class Anchored:
    def __init__(self, teacher, student, loss_fn, optimizer):
        self.teacher = teacher
        self.student = student
        self.loss_fn = loss_fn
        self.optimizer = optimizer

    def fit(self, loader):
        self.teacher.eval()
        self.anchors, self.wanted = next(iter(loader))
        self.run_epoch(loader)

    def run_epoch(self, loader):
        for images in loader:
            with torch.no_grad():
                theirs = self.teacher(self.anchors)  # expect: PLM080
            loss = self.loss_fn(self.student(images), theirs)
            loss.backward()
            self.optimizer.step()


class Changing:
    def __init__(self, teacher, student, loss_fn, optimizer):
        self.teacher = teacher
        self.student = student
        self.loss_fn = loss_fn
        self.optimizer = optimizer

    def take(self, images):
        self.note(images)
        return self.loss_fn(self.student(images), images)

    def note(self, images):
        self.anchors = images

    def fit(self, loader):
        self.teacher.eval()
        self.anchors = next(iter(loader))
        for images in loader:
            with torch.no_grad():
                # trap: what the loop calls calls what writes it
                theirs = self.teacher(self.anchors)
            loss = self.take(images) + self.loss_fn(self.student(images), theirs)
            loss.backward()
            self.optimizer.step()
