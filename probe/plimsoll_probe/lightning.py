"""What Lightning tells its callbacks: epochs, evaluations; and the numbers it hands to its loggers."""
import functools

# The same library under its two names.
CALLS = ("lightning.pytorch.trainer.call", "pytorch_lightning.trainer.call")
LOGS = tuple(name.replace("call", "connectors.logger_connector.logger_connector") for name in CALLS)

# Names for the training's loss, most telling first; on_step=True together with on_epoch=True appends the suffix.
_LOSSES = ("loss", "train_loss", "train/loss", "training_loss", "loss_step", "train_loss_step", "train/loss_step")


def attach_calls(module, session):
    real = module._call_callback_hooks

    @functools.wraps(real)
    def call_callback_hooks(trainer, hook_name, *args, **kwargs):
        try:
            _called(session, trainer, hook_name)
        except Exception:
            pass
        return real(trainer, hook_name, *args, **kwargs)

    module._call_callback_hooks = call_callback_hooks


def attach_logs(module, session):
    # What this returns goes to the loggers: Python numbers, so that nothing has to wait for the GPU.
    name = "convert_tensors_to_scalars" if hasattr(module, "convert_tensors_to_scalars") else "metrics_to_scalars"
    real = getattr(module, name)

    @functools.wraps(real)
    def to_scalars(metrics, *args, **kwargs):
        scalars = real(metrics, *args, **kwargs)
        try:
            _logged(session, scalars)
        except Exception:
            pass
        return scalars

    setattr(module, name, to_scalars)


def _called(session, trainer, hook):
    if hook == "on_train_epoch_start":
        session.epoch = trainer.current_epoch
        session.event("epoch_begin", epoch=session.epoch)
    elif hook == "on_validation_end":
        # It leaves evaluation by setting each module's flag, which no hook of torch's sees.
        session.training_mode(True)
        if session.step:
            session.event("evaluate", epoch=session.epoch)
    elif hook == "on_train_end":
        session.event("train_end", epoch=session.epoch)


def _logged(session, scalars):
    values = {name: value for name, value in scalars.items() if type(value) in (int, float)}
    loss = next((values[name] for name in _LOSSES if name in values), None)
    if loss is not None:
        values["loss"] = loss
    if values and session.step:
        session.event("log", epoch=session.epoch, values=values)
