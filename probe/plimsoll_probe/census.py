"""Which tensors are alive, since when, and how large a graph each holds. Looks; never creates, frees or collects."""
import collections
import gc
import weakref

# Visiting a node of a graph costs about a microsecond. What carries a graph on reaches its earlier self in a few nodes
# (a running mean) or in a step's worth of them (a hidden state); the largest transformer's step has some 20,000.
_GRAPH_NODES = 60000
_GRAPH_ROOTS = 256
_CONTAINERS = (list, dict, collections.deque, collections.defaultdict, collections.OrderedDict)


class Census:
    """Repeated counts of the live tensors. Holds weak references only."""

    def __init__(self, torch, containers):
        self._base = torch.Tensor
        self._parameter = torch.nn.Parameter
        self._kinds = {}
        self._known = {}
        # {id of container: lengths so far}, for what is not a tensor (arrays, plain objects); None when not wanted.
        self._lengths = {} if containers else None
        self.rounds = 0
        self._chains = _Chains("plimsoll-%d" % id(self))
        # A tuple: a list of ours that grows at each count would be found by the count.
        self._largest = ()
        self.enlarged = 0

    def take(self):
        known = self._known
        fresh = {}
        non_leaves = []
        largest = (0, None)
        for tensor in live(self._base, self._kinds):
            key = id(tensor)
            entry = known.get(key)
            if entry is not None and entry[0]() is tensor:
                fresh[key] = entry
            else:
                fresh[key] = (weakref.ref(tensor), self.rounds)
            if not tensor.is_leaf:
                non_leaves.append(tensor)
            elif not isinstance(tensor, self._parameter) and tensor.numel() > largest[0]:
                largest = (tensor.numel(), weakref.ref(tensor))
        self._known = fresh
        self._largest += (largest,)
        if self._lengths is not None:
            self._measure()
        self.rounds += 1
        self._chains.count(non_leaves)

    def survivors(self):
        """{round of birth: [weak references]} of tensors born in the counts and alive two rounds later."""
        born = {}
        for reference, round_ in self._known.values():
            if 0 < round_ <= self.rounds - 3:
                born.setdefault(round_, []).append(reference)
        return born

    def growing_tensor(self):
        """The largest tensor that is no parameter, when it was larger at each count than at the one before, or None."""
        sizes = [size for size, _ in self._largest]
        if len(sizes) < 4 or any(after <= before for before, after in zip(sizes, sizes[1:])):
            return None
        tensor = self._largest[-1][1]()
        if tensor is not None:
            self.enlarged = (sizes[-1] - sizes[0]) * tensor.element_size() / (len(sizes) - 1)
        return tensor

    def growing_containers(self):
        """Containers longer at each count, the heaviest first; those of numbers and texts do not count."""
        found = []
        if self._lengths is None:
            return found
        ids = {key for key, lengths in self._lengths.items() if len(lengths) == self.rounds and _climbs(lengths)}
        for candidate in gc.get_objects():
            if id(candidate) in ids and type(candidate) in _CONTAINERS:
                if not isinstance(newest(candidate), (type(None), int, float, str, bytes, dict, tuple, weakref.ref)):
                    found.append(candidate)
        found.sort(key=lambda container: -nbytes(newest(container)))
        return found[:4]

    def bytes_a_round(self, container):
        """How much a growing container takes up from one count to the next, by what came last."""
        lengths = self._lengths[id(container)]
        return nbytes(newest(container)) * (lengths[-1] - lengths[0]) / (len(lengths) - 1.0)

    def _measure(self):
        lengths, first = self._lengths, self.rounds == 0
        for candidate in gc.get_objects():
            if type(candidate) in _CONTAINERS:
                key = id(candidate)
                if first:
                    lengths[key] = [len(candidate)]
                elif key in lengths:
                    lengths[key].append(len(candidate))

    def growing_graph(self):
        """The tensor that carries a graph on: it holds its self of the count before, which holds the one before it…"""
        return self._chains.carrier(self.rounds - 1)


def _climbs(lengths):
    return all(after > before for before, after in zip(lengths, lengths[1:]))


def newest(container):
    """What was put in last."""
    try:
        values = container.values() if isinstance(container, dict) else container
        return next(reversed(values), None)
    except (TypeError, RuntimeError):
        return None


def optimizer_state():
    """Ids of the tensors in optimizers' state: they follow their parameters and explain nothing."""
    from torch.optim import Optimizer

    ids = set()
    for candidate in gc.get_objects():
        if issubclass(type(candidate), Optimizer):
            for state in list(candidate.state.values()):
                if isinstance(state, dict):
                    ids.update(id(value) for value in list(state.values()))
    return ids


def live(base, kinds):
    """All tensors Python knows of. `type()`, not `isinstance`: proxies must not be woken."""
    found = []
    for candidate in gc.get_objects():
        kind = type(candidate)
        is_tensor = kinds.get(kind)
        if is_tensor is None:
            is_tensor = kinds[kind] = issubclass(kind, base)
        if is_tensor:
            found.append(candidate)
    return found


def nbytes(thing):
    """A tensor's storage; an array's `nbytes`; 0 for what says neither."""
    try:
        return thing.untyped_storage().nbytes()
    except Exception:
        size = getattr(thing, "nbytes", 0)
        return size if isinstance(size, int) else 0


def describe(tensor):
    try:
        return "%s %s" % (str(tensor.dtype).replace("torch.", ""), "x".join(str(n) for n in tensor.shape) or "scalar")
    except Exception:
        return type(tensor).__name__


def _numbers(tensor):
    return tensor.numel()


class _Chains:
    """Which graphs hold those of earlier counts. A node's metadata lives as long as the node: marks are kept there."""

    def __init__(self, mark):
        self._mark = mark
        # Only nodes of marked kinds are asked for their metadata, since asking gives a node a dictionary.
        self._kinds = set()
        self._best = (0, False)
        self._carrier = None

    def count(self, tensors):
        # Those marked at an earlier count are what a graph keeps, not what keeps the graph.
        fresh = [tensor for tensor in tensors if self._mark not in tensor.grad_fn.metadata]
        # A graph that is kept keeps its activations, by the thousand; what carries it on is mostly a number.
        fresh.sort(key=_numbers)
        roots = fresh[:_GRAPH_ROOTS] if self._kinds else fresh
        most = max(500, _GRAPH_NODES // max(1, len(roots))) if self._kinds else 0
        self._best, self._carrier = (0, False), None
        marks = []
        for tensor in roots:
            signature = (tensor.grad_fn.name(), tuple(tensor.shape))
            earlier, links = self._earlier(tensor.grad_fn, most)
            marks.append((signature, links + 1))
            # Carried on by what is the same kind of tensor as the one it reaches: the running sum, not what uses it.
            if (links, earlier == signature) > self._best:
                self._best, self._carrier = (links, earlier == signature), weakref.ref(tensor)
        for tensor, mark in zip(roots, marks):
            tensor.grad_fn.metadata[self._mark] = mark
            self._kinds.add(mark[0][0])

    def carrier(self, links):
        return self._carrier() if self._carrier is not None and self._best[0] >= links else None

    def _earlier(self, first, most):
        """(signature, length of its chain) of the nearest node marked at an earlier count. Breadth first."""
        # The list keeps the nodes' Python faces, and so their ids, alive.
        nodes = [first]
        seen = {id(first)}
        at = 0
        while at < len(nodes) and at < most:
            for above, _ in nodes[at].next_functions:
                if above is None or id(above) in seen:
                    continue
                if above.name() in self._kinds:
                    found = above.metadata.get(self._mark)
                    if found is not None:
                        return found
                seen.add(id(above))
                nodes.append(above)
            at += 1
        return None, 0
