"""Runs before the user's program because this folder stands first on PYTHONPATH.

Starts the probe, then gives way: Python runs only the first ``sitecustomize`` it finds, so the user's own one,
hidden by this file, is imported from here exactly as Python would have done.
"""
import os
import sys


def _start_probe():
    run_folder = os.environ.get("PLIMSOLL_RUN_DIR")
    if not run_folder:
        return
    import importlib.util

    package = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "plimsoll_probe")
    spec = importlib.util.spec_from_file_location(
        "plimsoll_probe", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules["plimsoll_probe"] = module
    spec.loader.exec_module(module)
    module.start(run_folder)


def _give_way():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if not entry or os.path.abspath(entry) != here]
    ours = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401  the user's own
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        # The import under way looks itself up again when it ends.
        sys.modules.setdefault("sitecustomize", ours)


try:
    _start_probe()
except Exception:
    # The run matters more than its record.
    sys.modules.pop("plimsoll_probe", None)
_give_way()
