import torch
import torch.nn.functional as F


class Coach:
    def __init__(self, net, opts):
        self.net = net.cuda()
        self.opts = opts
        self.optimizer = torch.optim.Adam(self.net.encoder.parameters(), fused=True)
        self.seen = None

    def train(self, loader):
        for x in loader:
            x = x.cuda(non_blocking=True)
            y_hat, latent = self.net(x)
            loss = self.calc_loss(x, y_hat, latent)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def calc_loss(self, x, y_hat, latent):
        loss = F.mse_loss(y_hat, x)
        with torch.no_grad():
            mean_image, _ = self.net.decoder([self.net.latent_avg.unsqueeze(0)], noise=False)  # likely: PLM080
            # trap: of what this step made
            again, _ = self.net.decoder([latent], noise=False)
            # trap: drawn anew
            drawn, _ = self.net.decoder([torch.randn(1, 512, device="cuda")], noise=False)
            # trap: set in each step
            self.seen = x.mean(0, keepdim=True)
            seen, _ = self.net.decoder([self.seen], noise=False)
            # trap: the optimizer has it
            code = self.net.encoder(self.net.latent_avg)
        # trap: with gradients it learns, for all that is known
        wanted, _ = self.net.decoder([self.net.latent_avg.unsqueeze(0)], noise=False)
        return loss + F.mse_loss(mean_image + again + drawn + seen + code, y_hat) + wanted.mean()
