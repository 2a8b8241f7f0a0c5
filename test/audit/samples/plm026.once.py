import logging

import torch
import torch.nn.functional as F

device = torch.device("cuda")
logger = logging.getLogger(__name__)
shown = False


class Several:
    def get_unet(self, unet_number):
        return self.unets[unet_number]

    def train(self, batches, optimizer, unet_number):
        global shown
        for x, y in batches:
            unet = self.get_unet(unet_number)
            loss = F.mse_loss(unet(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            # trap: a number handed to a method that gets a network
            getattr(self, f"optim{unet_number}").zero_grad()
            if not shown:
                # trap: the first time only
                shown = True
                print(loss)
            # trap: formatted only where debug is on
            logger.debug("%s", loss)
            logger.info("%s", loss)  # expect: PLM026
