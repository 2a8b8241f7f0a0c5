"""Who keeps an object alive: the chain of references from it up to a name a person can find in the source."""
import collections
import functools
import gc
import sys
import types

_DEPTH = 14
_WIDTH = 4000
_OPTIMIZED = 0x1  # inspect.CO_OPTIMIZED: a function's frame, not a module's
_LRU = type(functools.lru_cache()(lambda: None))


class Link:
    """One reference: `holder` keeps the object below it under `name` (attribute, key, index, variable)."""

    __slots__ = ("holder", "name", "kind")

    def __init__(self, holder, name, kind):
        self.holder = holder
        self.name = name
        self.kind = kind


class Local:
    """Stands for a running function's local variable, whose frame the garbage collector does not show."""

    __slots__ = ("code", "name")

    def __init__(self, code, name):
        self.code = code
        self.name = name


def path(target, own=()):
    """Links from the object upwards; the last is a root when one was found. Empty when Python holds no reference."""
    locals_ = running_locals()
    modules = {id(vars(module)): name for name, module in list(sys.modules.items()) if isinstance(module, types.ModuleType)}
    objects = [target]
    parents = [-1]
    seen = {id(target)}
    ignored = {id(objects), id(parents), id(seen), id(locals_), id(modules), id(sys.modules)}
    ignored.update(id(thing) for thing in own)
    level = [0]
    deepest = 0
    above_modules = None
    for _ in range(_DEPTH):
        if any(_is_module(objects[index]) for index in level):
            # Straight up to the model: each module on the way would cost two more walks over all objects.
            if above_modules is None:
                above_modules = _module_parents()
                ignored.add(id(above_modules))
            level = [_climb(objects, parents, seen, index, above_modules) for index in level]
        for index in level:
            local = locals_.get(id(objects[index]))
            if local is not None:
                return _links(objects, parents, index) + [Link(local, local.name, "local")]
        wanted = [objects[index] for index in level]
        ignored.add(id(wanted))
        ignored.add(id(level))
        at = {id(objects[index]): index for index in level}
        ignored.add(id(at))
        referrers = gc.get_referrers(*wanted)
        ignored.add(id(referrers))
        above = []
        ignored.add(id(above))
        for referrer in referrers:
            key = id(referrer)
            if key in ignored or key in seen or _is_ours(referrer):
                continue
            child = next((at[id(below)] for below in gc.get_referents(referrer) if id(below) in at), None)
            if child is None:
                continue
            seen.add(key)
            objects.append(referrer)
            parents.append(child)
            index = len(objects) - 1
            if key in modules:
                links = _links(objects, parents, index)
                links[-1].kind = "global"
                links[-1].holder = sys.modules.get(modules[key], referrer)
                return links
            if isinstance(referrer, _LRU) or isinstance(referrer, type):
                return _links(objects, parents, index)
            above.append(index)
        if not above:
            break
        deepest = above[0]
        level = above[:_WIDTH]
    return _links(objects, parents, deepest) if deepest else []


def held(targets):
    """Ids of those that something in Python refers to, besides this list."""
    wanted = {id(target) for target in targets}
    found = wanted.intersection(running_locals())
    for referrer in gc.get_referrers(*targets):
        if referrer is not targets and not _is_ours(referrer):
            found.update(wanted.intersection(map(id, gc.get_referents(referrer))))
    return found


def _is_module(thing):
    module = sys.modules.get("torch.nn.modules.module")
    return module is not None and issubclass(type(thing), module.Module)


def _module_parents():
    """{id of a module: the module it is part of}."""
    parents = {}
    for candidate in gc.get_objects():
        if _is_module(candidate):
            for child in list(candidate.__dict__.get("_modules", {}).values()):
                parents.setdefault(id(child), candidate)
    return parents


def module_path(module):
    """"blocks.0.mlp", as the outermost module would name it; empty for the outermost itself."""
    above_modules = _module_parents()
    names = []
    for _ in range(_DEPTH):
        above = above_modules.get(id(module))
        if above is None:
            break
        names.extend(name for name, child in list(above.__dict__["_modules"].items()) if child is module)
        module = above
    return ".".join(reversed(names))


def _climb(objects, parents, seen, index, above_modules):
    while True:
        above = above_modules.get(id(objects[index]))
        if above is None or id(above) in seen:
            return index
        seen.add(id(above))
        objects.append(above)
        parents.append(index)
        index = len(objects) - 1


def running_locals():
    """{id of value: Local} for every function running on any thread."""
    found = {}
    for frame in list(sys._current_frames().values()):
        while frame is not None:
            code = frame.f_code
            if code.co_flags & _OPTIMIZED and not is_probe_file(code.co_filename):
                values = frame.f_locals
                for name in list(values):
                    found.setdefault(id(values[name]), Local(code, name))
                forget_locals(frame, values)
            frame = frame.f_back
    return found


def forget_locals(frame, values):
    """Before Python 3.13 reading f_locals leaves a copy on the frame that would keep the user's tensors alive."""
    # Two references are ours (argument and caller), one the frame's, one getrefcount's: any more is the user's locals().
    if sys.version_info < (3, 13) and frame.f_code.co_flags & _OPTIMIZED and sys.getrefcount(values) <= 4:
        values.clear()


def is_probe_file(filename):
    return "plimsoll_probe" in filename


def _is_ours(referrer):
    if isinstance(referrer, types.FrameType):
        return is_probe_file(referrer.f_code.co_filename)
    # An optimizer's state is keyed by its parameters: it follows them, it is not why they are kept.
    if type(referrer) is collections.defaultdict and type(next(iter(referrer), None)).__name__ == "Parameter":
        return True
    return isinstance(referrer, (Link, Local))


def _links(objects, parents, index):
    chain = []
    while index >= 0:
        chain.append(objects[index])
        index = parents[index]
    chain.reverse()
    links = []
    for below, holder in zip(chain, chain[1:]):
        links.append(_link(below, holder))
    return _merge_attributes(links)


def _link(below, holder):
    if isinstance(holder, dict):
        for key in list(holder):
            if dict.get(holder, key) is below:
                return Link(holder, key, "key")
        return Link(holder, None, "key")
    if isinstance(holder, (list, tuple)):
        for index, value in enumerate(list(holder)):
            if value is below:
                return Link(holder, index, "index")
    if isinstance(holder, types.FunctionType):
        return Link(holder, holder.__name__, "function")
    if isinstance(holder, types.FrameType):
        return Link(holder, None, "frame")
    if isinstance(holder, _LRU):
        return Link(holder, getattr(holder, "__name__", "?"), "lru_cache")
    if isinstance(holder, types.CellType if hasattr(types, "CellType") else ()):
        return Link(holder, None, "cell")
    if _is_module(holder) and _is_module(below):
        for name, value in list(holder.__dict__.get("_modules", {}).items()):
            if value is below:
                return Link(holder, name, "module")
    attributes = getattr(type(holder), "__dictoffset__", 0) and _attributes(holder)
    if attributes:
        for name, value in list(attributes.items()):
            if value is below:
                return Link(holder, name, "attribute")
    return Link(holder, None, "inside")


def _merge_attributes(links):
    """obj.__dict__['x'] reads as obj.x."""
    merged = []
    for link in links:
        last = merged[-1] if merged else None
        if (
            last is not None
            and last.kind == "key"
            and type(last.holder) is dict
            and not isinstance(link.holder, (dict, list, tuple))
            and (isinstance(link.holder, type) or _attributes(link.holder) is last.holder)
        ):
            merged[-1] = Link(link.holder, last.name, "attribute")
        else:
            merged.append(link)
    return merged


def _attributes(holder):
    try:
        found = object.__getattribute__(holder, "__dict__")
    except Exception:
        return None
    return found if isinstance(found, dict) else None
