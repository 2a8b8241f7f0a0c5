import pytorch_lightning as pl
import torch


class Student(pl.LightningModule):
    def __init__(self, teacher):
        super().__init__()
        self.net = torch.nn.Linear(8, 8)
        # trap: of one device
        self.teacher = teacher.cuda()

    def training_step(self, batch, index):
        return (self.net(batch) - self.teacher(batch)).square().mean()


def fit(teacher, loader):
    # trap: one process
    net = Student(teacher).cuda()
    # trap: started by one
    pl.Trainer(devices=1, strategy="ddp").fit(net, loader)
