"""Errors that are added to a list by other means than append."""


class Runner:
    def __init__(self, model, optimizer):
        self.model = model.cuda()
        self.optimizer = optimizer
        self.errors = []
        self.last = []

    def train(self, loader):
        texts, told = [], 0
        for step, batch in enumerate(loader):
            self.optimizer.zero_grad()
            try:
                self.model(batch.cuda()).sum().backward()
            except RuntimeError as error:
                self.errors += [(step, error)]  # expect: PLM011
                self.last.extend([error])  # expect: PLM011
                # trap: only its text
                texts += [str(error)]
                # trap: a number
                told += len(error.args)
                # trap: gone with the statement
                print([error])
                continue
            self.optimizer.step()
        return texts, told
