"""Which modules there are, from torch's own registration hooks: names for parameters, without walking the heap."""
import weakref


class Modules:
    def __init__(self, torch):
        from torch.nn.modules import module

        # In the order of registration, so that a nudge is the same in every run.
        self._owners = weakref.WeakKeyDictionary()
        self._parents = weakref.WeakKeyDictionary()
        self._convolution = torch.nn.modules.conv._ConvNd
        module.register_module_parameter_registration_hook(self._owns)
        module.register_module_module_registration_hook(self._holds)

    def _owns(self, module, name, parameter):
        try:
            self._owners[module] = True
        except TypeError:
            # Not hashable: its parameters go without a name.
            pass

    def _holds(self, module, name, child):
        try:
            self._parents[child] = (weakref.ref(module), name)
        except TypeError:
            pass

    def parameters(self):
        return [weight for module in list(self._owners) for weight in module._parameters.values() if weight is not None]

    def convolve(self):
        return any(isinstance(module, self._convolution) for module in list(self._owners))

    def names(self):
        """{id of a parameter: its name from the outermost module on}; of a shared one the first in the alphabet."""
        names = {}
        for module in list(self._owners):
            prefix = self._path(module)
            for name, weight in module._parameters.items():
                if weight is None:
                    continue
                name = prefix + name
                names[id(weight)] = min(name, names.get(id(weight), name))
        return names

    def _path(self, module):
        parts = []
        while module in self._parents and len(parts) < 100:
            parent, name = self._parents[module]
            module = parent()
            # What wraps a model (DDP, FSDP, torch.compile) is no part of its parameters' names.
            if name not in ("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module"):
                parts.append(name + ".")
            if module is None:
                break
        return "".join(reversed(parts))
