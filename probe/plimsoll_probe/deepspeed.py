"""DeepSpeed's engine: ZeRO steps its inner optimizer once for each group of parameters, so the engine sets the pace."""
import functools


def attach(module, session):
    engine = module.DeepSpeedEngine
    real = engine._take_model_step

    @functools.wraps(real)
    def take_model_step(self, *args, **kwargs):
        skipped = _skipped(self)
        session.engine_begins()
        stepped = False
        try:
            result = real(self, *args, **kwargs)
            # A step whose gradients overflowed is counted, not taken.
            stepped = _skipped(self) == skipped
            return result
        finally:
            session.engine_ends(stepped)

    engine._take_model_step = take_model_step


def _skipped(engine):
    return getattr(engine, "skipped_steps", 0)
