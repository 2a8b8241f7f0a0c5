"""What Hugging Face's Trainer tells its callbacks: epochs, losses it has logged, evaluations, saves."""
import functools


def attach(module, session):
    handler = getattr(module, "CallbackHandler", None)
    real = getattr(handler, "call_event", None)
    if real is None:
        return

    @functools.wraps(real)
    def call_event(self, event, args, state, control, **kwargs):
        try:
            _tell(session, event, state, kwargs)
        except Exception:
            pass
        return real(self, event, args, state, control, **kwargs)

    handler.call_event = call_event


def _tell(session, event, state, kwargs):
    if event == "on_log":
        logs = kwargs.get("logs") or {}
        # Only what already is a Python number: asking a tensor for its value would synchronise.
        numbers = {name: value for name, value in logs.items() if type(value) in (int, float)}
        if numbers:
            session.event("log", epoch=_number(state.epoch), of=_number(state.max_steps), **{"values": numbers})
    elif event in ("on_epoch_begin", "on_evaluate", "on_save", "on_train_begin", "on_train_end"):
        if event == "on_train_begin":
            return
        session.event(event[3:], epoch=_number(state.epoch), of=_number(state.max_steps))


def _number(value):
    return value if type(value) in (int, float) else None
