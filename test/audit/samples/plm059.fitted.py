from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Pair(nn.Module):
    def __init__(self, encoder, decoder):
        super().__init__()
        # trap: parts of a network, each a unit
        self.encoder = FSDP(encoder.cuda())
        self.decoder = FSDP(decoder.cuda())
        self.encoder_model = encoder
        self.decoder_model = decoder

    def shard(self):
        self.encoder_model = FSDP(self.encoder_model.cuda())
        self.decoder_model = FSDP(self.decoder_model.cuda())
