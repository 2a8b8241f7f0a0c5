import lightning as L
import torch
from accelerate import Accelerator
from diffusers import AutoencoderKL


def above(name, net, optimizer, loader):
    vae = AutoencoderKL.from_pretrained(name)
    vae.to("cuda")  # expect: PLM082
    accelerator = Accelerator()
    # trap: each rank has chosen by now
    mask = torch.ones(8, 8).cuda()
    return vae, mask, accelerator.prepare(net, optimizer, loader)


def below(name, net, loader):
    accelerator = Accelerator()
    # trap: the rank's own
    vae = AutoencoderKL.from_pretrained(name).to("cuda")
    return vae, accelerator.prepare(net, loader)


def asked(net, alone):
    if alone:
        # trap: of one process
        net = net.cuda()
    accelerator = Accelerator()
    return accelerator.prepare(net)


class Student(L.LightningModule):
    def __init__(self, teacher):
        super().__init__()
        self.net = torch.nn.Linear(8, 8)
        self.teacher = teacher.cuda()  # expect: PLM082

    def training_step(self, batch, index):
        # trap: a rank trains on its own
        target = torch.zeros(8).cuda()
        return (self.net(batch) - self.teacher(batch) - target).square().mean()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), fused=True)


def fit(teacher, loader):
    L.Trainer(devices=4, strategy="ddp").fit(Student(teacher), loader)
