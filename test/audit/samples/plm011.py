import torch


class Runner:
    def step(self, model, batch, errors):
        model.train()
        try:
            model(batch).sum().backward()
        except RuntimeError as error:
            self.last = error  # likely: PLM011
            errors.append(error)  # likely: PLM011
            # trap: only its text
            errors.append(str(error))
            # trap: without its frames
            self.quiet = error.with_traceback(None)
            # trap: passed on
            raise error

    def attempt(self, model, batch):
        try:
            model(batch).sum().backward()
        except RuntimeError as error:
            self.last = error  # expect: PLM011

    def read(self, path, errors):
        try:
            return torch.load(path)
        except OSError as error:
            # trap: no network ran
            errors.append(error)


def closing(model, loader, close):
    failed = None
    try:
        for batch in loader:
            model(batch.cuda()).sum().backward()
    except RuntimeError as error:
        # trap: raised again, it leaves with the frame
        failed = error
        raise
    finally:
        close(failed)
