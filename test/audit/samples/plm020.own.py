import torch
import torch.nn.functional as F


class Process:
    def __init__(self, net, scale):
        self.net = net
        self.scale = scale

    def predict(self, x, t):
        return self.net(x, t * self.scale)

    def distillation_loss(self, student, x, t):
        made = self.predict(x, t).double()  # expect: PLM020
        wanted = (x - made).clip(-1, 1)
        return F.mse_loss(student.net(x, t), wanted.detach().float())

    def distill_directly(self, student_net, x, t):
        wanted = self.net(x, t).detach()  # expect: PLM020
        return F.mse_loss(student_net(x, t), wanted)

    def distill_without(self, student, x, t):
        with torch.no_grad():
            # trap: nothing is recorded
            wanted = self.predict(x, t)
        return F.mse_loss(student.net(x, t), wanted.detach())

    def distill_both(self, student, x, t):
        # trap: both learn from each other
        ours = self.predict(x, t)
        theirs = student.net(x, t)
        return F.mse_loss(theirs, ours.detach()) + F.mse_loss(ours, theirs.detach())

    def distill_shown(self, student, x, t):
        # trap: the student's is not recorded either, as in what is only shown
        with torch.no_grad():
            theirs = student.net(x, t)
        return (self.predict(x, t).detach() - theirs).abs().mean()
