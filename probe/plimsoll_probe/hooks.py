"""Where torch lets itself be watched. A handful of calls a step; none of them touches a tensor."""
import functools
import sys
import time


def install(torch, session):
    """Returns what takes everything away again, newest first."""
    from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

    before = register_optimizer_step_pre_hook(
        lambda optimizer, args, kwargs: _quietly(session.optimizer_begins, optimizer, _closure(args, kwargs))
    )
    behind = register_optimizer_step_post_hook(lambda optimizer, args, kwargs: _quietly(session.optimizer_ends, optimizer))
    undo = [before.remove, behind.remove]
    undo.append(_time(torch.autograd, "backward", session, "backward"))
    undo.append(_time(torch, "save", session, "save"))
    dataloader = sys.modules.get("torch.utils.data.dataloader")
    if dataloader is not None and hasattr(dataloader, "_BaseDataLoaderIter"):
        undo.append(_time(dataloader._BaseDataLoaderIter, "__next__", session, "data"))
    undo.append(_modes(torch, session))
    return undo[::-1]


def _quietly(function, *arguments):
    try:
        function(*arguments)
    except Exception:
        pass


def _closure(args, kwargs):
    # args[0] is the optimizer itself.
    return (args[1] if len(args) > 1 else kwargs.get("closure")) is not None


def _time(owner, name, session, span):
    real = getattr(owner, name)

    @functools.wraps(real)
    def timed(*args, **kwargs):
        began = time.perf_counter()
        if span == "backward":
            session.phase = "backward"
        elif span == "save":
            session.phase = "save"
        try:
            return real(*args, **kwargs)
        finally:
            try:
                session.span(span, time.perf_counter() - began)
                if span != "data":
                    session.phase = session.phase_behind(span)
            except Exception:
                pass

    setattr(owner, name, timed)
    return functools.partial(setattr, owner, name, real)


def _modes(torch, session):
    module = torch.nn.Module
    real = module.train
    depth = [0]

    @functools.wraps(real)
    def train(self, mode=True):
        # Module.train calls itself for every child: only the outermost call says something.
        depth[0] += 1
        try:
            return real(self, mode)
        finally:
            depth[0] -= 1
            if not depth[0]:
                _quietly(session.training_mode, bool(mode))

    module.train = train
    return functools.partial(setattr, module, "train", real)
