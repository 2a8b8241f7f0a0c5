"""Calls back after a module has been imported by somebody else. Never imports anything itself."""
import sys

_waiting = {}


class _Loader:
    """Stands in for the real loader of one import, then puts the real one back on the module."""

    def __init__(self, real, callbacks):
        self._real = real
        self._callbacks = callbacks

    def __getattr__(self, name):
        return getattr(self._real, name)

    def create_module(self, spec):
        return self._real.create_module(spec)

    def exec_module(self, module):
        spec = getattr(module, "__spec__", None)
        if spec is not None:
            spec.loader = self._real
        module.__loader__ = self._real
        self._real.exec_module(module)
        for callback in self._callbacks:
            try:
                callback(module)
            except Exception:
                pass


class _Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        callbacks = _waiting.get(name)
        if not callbacks:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is _Finder or find is None:
                continue
            spec = find(name, path, target)
            if spec is None:
                continue
            if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                spec.loader = _Loader(spec.loader, _waiting.pop(name))
            return spec
        return None


def after(name, callback):
    if name in sys.modules:
        callback(sys.modules[name])
        return
    _waiting.setdefault(name, []).append(callback)
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
