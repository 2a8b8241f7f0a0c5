import torch


class Engine:
    def __init__(self, net, scaler_g, clip):
        self.net, self.scaler_g, self.clip = net.cuda(), scaler_g, clip

    def train(self, loader, optimizer, pictures):
        for x in loader:
            loss = self.net(x.cuda()).mean()
            self.scaler_g.scale(loss).backward()
            self.clip.clip_gradients(self.net.parameters(), 1.0, error_if_nonfinite=True)  # expect: PLM032
            # trap: it does not look
            self.clip.clip_gradients(self.net.parameters(), 1.0, error_if_nonfinite=False)
            self.scaler_g.step(optimizer)
            self.scaler_g.update()
            print(self.scaler_g.get_scale())  # likely: PLM032
            print(self.scaler_g._scale.item())  # likely: PLM032
            # trap: what a picture is scaled by
            print(pictures.get_scale())
