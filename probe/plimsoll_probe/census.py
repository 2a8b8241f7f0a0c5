"""Which tensors are alive, since when, and how large a graph each holds. Looks; never creates, frees or collects."""
import collections
import gc
import weakref

# Walking a graph costs about a microsecond a node; the largest transformer's step has some 20,000.
_GRAPH_NODES = 60000
_GRAPH_ROOTS = 256
_CONTAINERS = (list, dict, collections.deque, collections.defaultdict, collections.OrderedDict)


class Graph:
    """The largest autograd graph at one moment: the tensor that carries it on, and whether an earlier one is part of it."""

    __slots__ = ("nodes", "tensor", "holds_earlier")

    def __init__(self, nodes, tensor, holds_earlier):
        self.nodes = nodes
        self.tensor = tensor
        self.holds_earlier = holds_earlier


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
        # Tuples: a list of ours that grows at each count would be found by the count.
        self.graphs = ()
        self._mark = "plimsoll-%d" % id(self)
        self._marked = set()
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
        self.graphs += (_largest_graph(non_leaves, self._mark, self._marked),)

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
        """The root of a graph that grew from each count to the next and still holds an earlier one, or None."""
        sizes = [graph.nodes if graph else 0 for graph in self.graphs]
        # A model of which more and more is trained has a larger graph at each step too, but a new one.
        if not self.graphs or not self.graphs[-1] or not self.graphs[-1].holds_earlier:
            return None
        if len(sizes) < 4 or any(after <= before for before, after in zip(sizes, sizes[1:])):
            return None
        last = self.graphs[-1]
        return last.tensor() if last else None


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


def _walk(first):
    """Nodes reachable from a grad_fn, at most _GRAPH_NODES. The list keeps their Python faces, and so their ids, alive."""
    nodes = [first]
    seen = {id(first)}
    at = 0
    while at < len(nodes) < _GRAPH_NODES:
        for above, _ in nodes[at].next_functions:
            if above is not None and id(above) not in seen:
                seen.add(id(above))
                nodes.append(above)
        at += 1
    return nodes


def _largest_graph(tensors, mark, kinds):
    # Those marked at an earlier count are what a graph keeps, not what keeps the graph.
    roots = [tensor for tensor in tensors if mark not in tensor.grad_fn.metadata][-_GRAPH_ROOTS:]
    nodes, largest = [], None
    for tensor in roots:
        try:
            reached = _walk(tensor.grad_fn)
        except Exception:
            continue
        if len(reached) > len(nodes):
            nodes, largest = reached, tensor
    if largest is None:
        return None
    # A node's metadata lives as long as the node: the mark of an earlier count tells that its graph is still held, and
    # what kind of tensor carries it on. Only nodes of marked kinds are asked, since asking gives a node a dictionary.
    carriers = _marks(nodes, mark, kinds)
    carrier = None
    signatures = [(tensor.grad_fn.name(), tuple(tensor.shape)) for tensor in roots]
    for tensor, signature in zip(roots, signatures):
        # Carried on by what is in the later graph and has an earlier one in its own: the running sum, not what is added.
        if carrier is None and signature in carriers and _marks(_walk(tensor.grad_fn), mark, kinds):
            carrier = tensor
    for tensor, signature in zip(roots, signatures):
        tensor.grad_fn.metadata[mark] = signature
        kinds.add(signature[0])
    return Graph(len(nodes), weakref.ref(largest if carrier is None else carrier), bool(carriers))


def _marks(nodes, mark, kinds):
    return {node.metadata[mark] for node in nodes if node.name() in kinds and mark in node.metadata}
