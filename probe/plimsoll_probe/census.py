"""Which tensors are alive, since when, and how large a graph each holds. Looks; never creates, frees or collects."""
import gc
import weakref

# Walking a graph costs about a microsecond a node; the largest transformer's step has some 20,000.
_GRAPH_NODES = 60000
_GRAPH_ROOTS = 48


class Graph:
    """The tensor that holds the largest autograd graph at one moment."""

    __slots__ = ("nodes", "tensor")

    def __init__(self, nodes, tensor):
        self.nodes = nodes
        self.tensor = tensor


class Census:
    """Repeated counts of the live tensors. Holds weak references only."""

    def __init__(self, torch):
        self._base = torch.Tensor
        self._kinds = {}
        self._known = {}
        self.rounds = 0
        self.graphs = []

    def take(self):
        known = self._known
        fresh = {}
        non_leaves = []
        for tensor in live(self._base, self._kinds):
            key = id(tensor)
            entry = known.get(key)
            if entry is not None and entry[0]() is tensor:
                fresh[key] = entry
            else:
                fresh[key] = (weakref.ref(tensor), self.rounds)
            if not tensor.is_leaf:
                non_leaves.append(tensor)
        self._known = fresh
        self.rounds += 1
        self.graphs.append(_largest_graph(non_leaves))

    def survivors(self):
        """{round of birth: [weak references]} of tensors born in the counts and alive two rounds later."""
        born = {}
        for reference, round_ in self._known.values():
            if 0 < round_ <= self.rounds - 3:
                born.setdefault(round_, []).append(reference)
        return born

    def growing_graph(self):
        """The root of a graph that grew from each count to the next, or None."""
        sizes = [graph.nodes if graph else 0 for graph in self.graphs]
        if len(sizes) < 4 or any(after <= before for before, after in zip(sizes, sizes[1:])):
            return None
        last = self.graphs[-1]
        return last.tensor() if last else None


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


def nbytes(tensor):
    try:
        return tensor.untyped_storage().nbytes()
    except Exception:
        return 0


def describe(tensor):
    try:
        return "%s %s" % (str(tensor.dtype).replace("torch.", ""), "x".join(str(n) for n in tensor.shape) or "scalar")
    except Exception:
        return type(tensor).__name__


def graph_size(tensor):
    """Nodes reachable from a tensor's grad_fn, at most _GRAPH_NODES."""
    first = tensor.grad_fn
    if first is None:
        return 0
    # The list keeps each node's Python face alive, so that ids stay unique during the walk.
    nodes = [first]
    seen = {id(first)}
    at = 0
    while at < len(nodes) < _GRAPH_NODES:
        for above, _ in nodes[at].next_functions:
            if above is not None and id(above) not in seen:
                seen.add(id(above))
                nodes.append(above)
        at += 1
    return len(nodes)


def _largest_graph(tensors):
    best = None
    for tensor in tensors[-_GRAPH_ROOTS:]:
        try:
            size = graph_size(tensor)
        except Exception:
            continue
        if best is None or size > best.nodes:
            best = Graph(size, weakref.ref(tensor))
    return best
