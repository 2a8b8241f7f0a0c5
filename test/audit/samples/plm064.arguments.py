from pytorch_lightning import Trainer
from torch.nn.utils.rnn import pad_sequence


def collate(rows):
    return pad_sequence(rows, batch_first=True)


def main(args):
    trainer = Trainer.from_argparse_args(args, benchmark=True)  # expect: PLM064
    # trap: off
    other = Trainer.from_argparse_args(args, benchmark=False)
    return trainer, other
