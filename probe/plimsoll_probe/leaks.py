"""From "memory grows" to "this line keeps it": suspicion, census, holder, line.

Every stage runs on the training thread behind an optimizer step, and only when the stage before it gave a reason to.
"""
import collections
import os
import sys
import time

from . import census, growth, history, holders, source, watch

# Growth worth a look. On a CPU, torch may take tensors' bytes from an allocator of its own (mimalloc on ARM) and only
# their headers from malloc: about 330 bytes for each tensor that stays.
LOOK_BYTES = 200
# Growth worth a word. A detached scalar kept at each step stays below this; a kept graph or activation does not.
TELL_BYTES = 1024
# Resident memory moves in pages and arenas: only growth of this size is a trend of the run's own. On a GPU it is not
# where tensors are, and a graph that is kept takes hundreds of kilobytes a step.
RESIDENT_BYTES = 32768
RESIDENT_BYTES_GPU = 262144
# A leak that takes ten million steps to double the memory at rest is not worth a word.
FLOOR_SHARE = 1e-7
ROUNDS = 6
# A container that the code itself empties somewhere is given this many steps to do so.
PATIENCE = 400
# A cache that is filled with what it does not have yet must still be growing after so many steps.
PATIENCE_MEMO = 40
# Survivors of one round whose holders are looked up; each costs a walk over all objects.
SAMPLES = 3
# Processor seconds that investigations may take in all: this much, and this share of the run.
BUDGET_SECONDS = 10.0
BUDGET_SHARE = 0.02
# Steps between investigations that found nothing double, so that their cost fades.
FIRST_REST = 16


class Leaks:
    def __init__(self, torch, report, note):
        self._torch = torch
        self._report = report
        self._note = note
        self._growth = growth.Growth()
        self._resident = growth.Growth()
        self._history = history.History(torch)
        self._trend = None
        self._census = None
        self._watch = None
        self._suspects = []
        self._next = 0
        self._pace = 1
        self._rest_until = 0
        self._rest = FIRST_REST
        self._reported = set()
        self._waiting = {}
        self.spent = 0.0
        self._began = time.monotonic()

    def looking(self):
        """Whether an investigation is under way."""
        return self._census is not None or self._watch is not None

    def at_rest(self, step, in_use, resident, every):
        """Behind an optimizer step. `in_use`: allocated bytes (GPU) or heap bytes in use (CPU); `resident`: the process's.

        `every`: it is called behind each of so many steps.
        """
        self._growth.add(in_use, every)
        self._resident.add(resident, every)
        if step < self._rest_until or step // every % 2:
            return
        if self.spent > BUDGET_SECONDS + BUDGET_SHARE * (time.monotonic() - self._began):
            return
        resident_floor = RESIDENT_BYTES_GPU if self._torch.cuda.is_initialized() else RESIDENT_BYTES
        self._trend = self._growth.trend(max(LOOK_BYTES, in_use * FLOOR_SHARE)) or self._resident.trend(resident_floor)
        if self._trend is not None:
            self._census = census.Census(self._torch, containers=False)
            # Counting needs no reading: it may be done at every step, however seldom those are.
            self._pace = max(1, self._trend.scale // every)
            self._next = step
            self._record_allocations()

    def look(self, step):
        """Behind every step of an investigation."""
        began = time.thread_time()
        try:
            if self._census is not None:
                self._count(step)
            elif step >= self._next:
                self._conclude(step)
        except Exception as error:
            self._give_up(step, repr(error))
        self.spent += time.thread_time() - began

    def close(self):
        if self._watch is not None:
            self._watch.stop()

    def _record_allocations(self):
        try:
            self._history.start()
        except Exception:
            pass

    def _allocated_at(self):
        """GPU only. A list of lines; the investigation does not depend on it."""
        try:
            return self._history.places(ROUNDS - 3)
        except Exception:
            return []
        finally:
            self._history.stop()

    def _count(self, step):
        if step < self._next:
            return
        self._census.take()
        self._next = step + self._pace
        if self._census.rounds < ROUNDS:
            return
        counted, self._census = self._census, None
        self._suspects = [
            suspect for suspect in _suspects(counted)
            # A graph that is kept is a mistake at any size: most of it is not in tensors that can be seen.
            if suspect.graph or suspect.kept / self._pace + self._trend.per_step >= TELL_BYTES
        ]
        if not self._suspects:
            # What grows at evaluations or epochs shows only between counts that are further apart.
            if self._pace < growth.SCALES[-1]:
                self._pace *= 4
                self._census = census.Census(self._torch, containers=True)
                self._next = step
                return
            self._give_up(step, "no tensor of any size stays that Python knows of")
            return
        things = []
        for suspect in self._suspects:
            suspect.watched = range(len(things), len(things) + len(suspect.things))
            things.extend(suspect.things)
        self._watch = watch.Watch(things)
        self._next = step + 2 * self._pace
        self._watch.start(sys._getframe(1))

    def _conclude(self, step):
        watched, self._watch = self._watch, None
        watched.stop()
        allocated = self._allocated_at()
        found = []
        for suspect in self._suspects:
            suspect.locate(watched)
            if not suspect.bounded:
                found.append(suspect)
        self._suspects = []
        if not found:
            self._give_up(step, "what grows is bounded")
            return
        found.sort(key=lambda suspect: (suspect.file is None, -suspect.weight))
        for suspect in found[:1]:
            self._tell(step, suspect, allocated)
        # The same growth must not be investigated over and over; another leak may come later.
        self._growth.restart()
        self._resident.restart()
        self._rest_until = step + self._rest
        self._rest *= 2

    def _tell(self, step, suspect, allocated):
        key = (suspect.file, suspect.line) if suspect.file else suspect.held
        if key in self._reported or suspect.held in self._reported:
            return
        if suspect.file is None and self._reported:
            # Most likely another face of what was named already.
            return
        # Without a line there is nothing to show but growth, which then must last.
        patience = PATIENCE if suspect.emptied is not None or suspect.file is None else suspect.memo * PATIENCE_MEMO
        if step - self._waiting.setdefault(key, step) < patience:
            return
        self._reported.update((key, suspect.held))
        self._report(
            step=step,
            file=suspect.file,
            line=suspect.line,
            text=source.text(suspect.file, suspect.line) if suspect.file else "",
            held=suspect.held,
            tensor=suspect.tensor,
            why=suspect.kind,
            per_step=int(max(self._trend.per_step, suspect.kept / self._pace)),
            z=round(self._trend.z, 2),
            confidence=_confidence(self._trend.z),
            every=self._pace,
            allocated_at=allocated,
        )

    def _give_up(self, step, why):
        try:
            self._history.stop()
        except Exception:
            pass
        if self._watch is not None:
            self._watch.stop()
        self._census = self._watch = None
        self._suspects = []
        self._growth.restart()
        self._resident.restart()
        self._rest_until = step + self._rest
        self._rest *= 2
        self._note(step=step, why=why, per_step=int(self._trend.per_step), every=self._pace)


def _confidence(z):
    import math

    return round(1 - 0.5 * math.erfc(z / math.sqrt(2)), 6)


GRAPH = "its autograd graph grows"
MORE = "one more each time"
LARGER = "it is made larger each time"


class Suspect:
    """One way in which memory stays in use, seen from the holder's side."""

    def __init__(self, thing, links, weight, kept, kind):
        self.tensor = census.describe(thing)
        self.kept = kept
        self.weight = weight
        self.kind = kind
        self.graph = getattr(thing, "grad_fn", None) is not None
        self.held = describe_path(links)
        self.things = []
        self.watched = ()
        self.bounded = False
        self.emptied = None
        self.memo = False
        self.file = None
        self.line = None
        self._names = []
        self._keys = []
        self._attributes = []
        for link in links:
            self._follow(link)
        self._attributes.extend(_closing_attributes(links))

    def _follow(self, link):
        holder = link.holder
        if isinstance(holder, holders.Local):
            self.things.append(watch.LocalBinding(holder))
            self._names.append(holder.name)
            return
        if link.kind == "lru_cache":
            if holder.cache_parameters()["maxsize"] is not None if hasattr(holder, "cache_parameters") else False:
                self.bounded = True
            wrapped = getattr(holder, "__wrapped__", None)
            code = getattr(wrapped, "__code__", None)
            if code is not None:
                self.file, self.line = code.co_filename, code.co_firstlineno
            return
        if isinstance(holder, collections.deque) and holder.maxlen is not None:
            self.bounded = True
        if isinstance(holder, (list, dict, set, collections.deque)):
            self.things.append(watch.Length(holder))
        if link.kind == "global":
            self.things.append(watch.Binding(vars(holder), link.name))
            self._names.append(link.name)
        elif link.kind == "attribute" and not isinstance(holder, type):
            self.things.append(watch.Binding(holder.__dict__, link.name))
            self._attributes.append(link.name)
            self._names.append(link.name)
        elif link.kind == "key" and isinstance(link.name, str):
            self.things.append(watch.Binding(holder, link.name))
            self._keys.append(link.name)
            self._names.append(link.name)
        elif link.kind == "attribute":
            self._names.append(link.name)

    def locate(self, watched):
        if self.file is None:
            best = None
            for order, index in enumerate(self.watched):
                changes = watched.changes[index]
                if not changes or (self.things[order].counts and watched.net[index] <= 0):
                    continue
                place, _ = changes.most_common(1)[0]
                best = place
            if best is None:
                best = self._by_attribute(watched)
            if best is None:
                best = self._by_name(watched)
            if best is not None:
                self.file, self.line = best
            if self.kind == LARGER:
                # Batches that get longer look the same from outside; this is only a leak when it is built from itself.
                self.bounded = best is None or not any(source.builds_on_itself(best[0], best[1], name) for name in self._names)
        if self.file is not None and source.is_user_file(self.file):
            for name in self._names:
                self.bounded = self.bounded or source.bounded_by_length(self.file, name)
                self.emptied = self.emptied or source.emptying_statement(self.file, name)
                self.memo = self.memo or source.is_memo(self.file, name)
            self.file = os.path.abspath(self.file)

    def _by_attribute(self, watched):
        """A cycle or an autograd context has no root to watch: the statement that sets its attribute, if it ran."""
        for attribute in reversed(self._attributes):
            for file in {file for file, _ in watched.lines}:
                ran = [line for line in source.attribute_assignments(file, attribute) if (file, line) in watched.lines]
                if ran:
                    return file, ran[-1]
        return None

    def _by_name(self, watched):
        searches = [(source.item_assignments, key) for key in self._keys]
        searches += [(source.growing_statements, name) for name in reversed(self._names)]
        for search, name in searches:
            for file in {file for file, _ in watched.lines}:
                ran = [line for line in search(file, name) if (file, line) in watched.lines]
                if len(ran) == 1:
                    return file, ran[0]
        return None


def _suspects(counted):
    found = {}
    enough = counted.rounds - 3
    born = counted.survivors()
    state = census.optimizer_state()
    for round_ in sorted(born):
        # The largest and those with a graph first: they explain the growth.
        alive = [tensor for tensor in (reference() for reference in born[round_]) if tensor is not None]
        alive = [tensor for tensor in alive if id(tensor) not in state]
        # A graph keeps tensors, too, which no one else refers to.
        held = holders.held(alive)
        alive = [tensor for tensor in alive if id(tensor) in held]
        alive.sort(key=lambda tensor: (tensor.grad_fn is None, -census.nbytes(tensor)))
        del alive[SAMPLES:]
        while alive:
            tensor = alive.pop(0)
            links = holders.path(tensor, own=(alive,))
            if not links:
                continue
            entry = found.setdefault(_signature(links), [set(), 0, 0, tensor, links])
            entry[0].add(round_)
            entry[1] += census.nbytes(tensor)
            entry[2] += tensor.grad_fn is not None
        tensor = None
    suspects = []
    for rounds, kept, graphs, tensor, links in found.values():
        if len(rounds) >= enough:
            # One that holds a graph holds more than its own bytes.
            weight = kept + (graphs << 16)
            suspects.append(Suspect(tensor, links, weight, kept / len(rounds), MORE))
    # No loop over a tuple of them: it would be found as their holder.
    root = counted.growing_graph()
    links = holders.path(root) if root is not None else []
    if links:
        suspects.append(Suspect(root, links, 1 << 40, 0, GRAPH))
    root = counted.growing_tensor()
    links = holders.path(root) if root is not None else []
    if links:
        suspects.append(Suspect(root, links, 1 << 20, counted.enlarged, LARGER))
    if not suspects:
        growing = counted.growing_containers()
        while growing:
            container = growing.pop()
            links = holders.path(container, own=(growing,))
            if links:
                size = counted.bytes_a_round(container)
                links.insert(0, holders.Link(container, None, "index"))
                suspects.append(Suspect(census.newest(container), links, size, size, MORE))
    return suspects


def _closing_attributes(links):
    """Where no name was reached: the attributes through which the holders refer to each other in a circle."""
    if not links or links[-1].kind in ("global", "local", "lru_cache") or isinstance(links[-1].holder, type):
        return []
    ids = {id(link.holder) for link in links}
    names = []
    for link in links:
        attributes = getattr(link.holder, "__dict__", None)
        if isinstance(attributes, dict):
            names.extend(name for name, value in list(attributes.items()) if id(value) in ids)
    return names


def _signature(links):
    """Paths that differ only in keys and indices are one way of keeping."""
    parts = []
    for link in links:
        name = link.name if link.kind in ("attribute", "global", "local", "lru_cache", "function") else ""
        parts.append((link.kind, name, type(link.holder).__name__))
    return tuple(parts[-3:])


def describe_path(links):
    """"local `model` of train() → `GPT.blocks.0` → `Quantize.running_max`", from the root downwards, at most four."""
    parts = []
    modules = []
    inside = below = None
    for link in links:
        holder = link.holder
        if link.kind == "module":
            modules.append(link.name)
            inside = holder
            continue
        if modules:
            parts.append("`%s.%s`" % (type(inside).__name__, ".".join(reversed(modules))))
            modules = []
        if isinstance(holder, holders.Local):
            parts.append("local `%s` of %s()" % (holder.name, holder.code.co_name))
        elif link.kind == "global":
            parts.append("global `%s` of %s" % (link.name, getattr(holder, "__name__", "a module")))
        elif link.kind == "attribute" and link.name in ("_buffers", "_parameters", "_modules") and below is not None:
            parts[-1] = "`%s.%s`" % (type(holder).__name__, below)
        elif link.kind == "attribute":
            owner = holder.__name__ if isinstance(holder, type) else type(holder).__name__
            parts.append("`%s.%s`" % (owner, link.name))
        elif link.kind == "lru_cache":
            parts.append("the lru_cache of %s()" % link.name)
        elif link.kind == "function":
            parts.append("function %s()" % link.name)
        elif link.kind == "cell":
            parts.append("a closure")
        elif link.kind == "frame":
            parts.append("the frame of %s()" % holder.f_code.co_name)
        else:
            parts.append("a %s" % type(holder).__name__)
        below = link.name if link.kind == "key" else None
    if modules:
        parts.append("`%s.%s`" % (type(inside).__name__, ".".join(reversed(modules))))
    parts.reverse()
    return " → ".join(parts[:4])
