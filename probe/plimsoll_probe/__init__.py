"""The part of Plimsoll that lives inside the training process. Standard library only; never imports torch itself."""

import os

__version__ = "0.1.0"


def start(run_folder):
    """Arms the import hooks. Nothing is imported, opened or initialised until the user's code imports torch."""
    from . import process

    if process.is_bystander():
        return
    from . import imports, lightning, session

    session.begin(run_folder)
    imports.after("torch", session.torch_arrived)
    imports.after("transformers.trainer_callback", session.trainer_arrived)
    imports.after("deepspeed.runtime.engine", session.deepspeed_arrived)
    for name in lightning.CALLS:
        imports.after(name, session.lightning_calls)
    for name in lightning.LOGS:
        imports.after(name, session.lightning_logs)
    if os.environ.get("PLIMSOLL_VERIFY"):
        from . import verify

        verify.begin(session._session)
