from models import Flow
from ranks import init_distributed


def train(rank, world, config):
    model = Flow(**config).cuda()  # expect: PLM082
    if world > 1:
        init_distributed(rank, world)
    # trap: the rank has chosen by now
    other = Flow(**config).cuda()
    return model, other
