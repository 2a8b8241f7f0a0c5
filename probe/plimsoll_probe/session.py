"""One training process, watched: hooks on one side, the record on the other. Every door in here swallows its errors."""
import os
import sys
import time

_session = None


def begin(run_folder):
    global _session
    _session = Session(run_folder)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_session.forked)


def torch_arrived(torch):
    _session.attach(torch)


def trainer_arrived(module):
    from . import trainer

    trainer.attach(module, _session)


def lightning_calls(module):
    from . import lightning

    lightning.attach_calls(module, _session)


def lightning_logs(module):
    from . import lightning

    lightning.attach_logs(module, _session)


def deepspeed_arrived(module):
    from . import deepspeed

    deepspeed.attach(module, _session)


# A step's columns, in the order of the rows in the record. Seconds, bytes, counts.
COLUMNS = (
    "step", "time", "seconds", "backward", "optimizer", "data", "save", "evaluation", "micro",
    "allocated", "reserved", "peak", "inactive", "retries", "ooms", "heap",
)
# On a GPU the hooks' own time may be this share of the run's; above it, counters are read at every other step, then at
# every fourth…
BUDGET = 0.005
SPARSEST = 16
# Behind this step weights, gradients and optimizer state are counted, once: lazily made state is there by then.
COUNT_AT = 4
NOTHING = (0, 0, 0, 0, 0, 0)


class Session:
    def __init__(self, folder):
        self.folder = folder
        self.step = 0
        self.phase = "load"
        self.recorder = None
        self.epoch = None
        self._pid = os.getpid()
        self._torch = None
        self._cuda = None
        self._leaks = None
        self._deep = None
        self._sender = None
        self._trackers = None
        self.host_memory = (0, 0)
        self._dead = False
        self._clear()

    def _clear(self):
        self._primary = None
        self._others = 0
        self._step_began = time.perf_counter()
        self._optimizer_began = None
        self._engine = False
        self._micro = 0
        self._seconds = {"backward": 0.0, "optimizer": 0.0, "data": 0.0, "save": 0.0, "evaluation": 0.0}
        self._evaluation_began = None
        self._spent = 0.0
        self._stride = 1
        self._run_began = None

    def attach(self, torch):
        from . import counters, hooks, oom

        self._torch = torch
        self._cuda = counters.Cuda(torch)
        self._undo = hooks.install(torch, self)
        oom.install(torch, self)

    def suspend(self):
        """Takes every hook out, for measuring what they cost; `resume` puts them back."""
        for undo in self._undo:
            undo()
        self._undo = []

    def resume(self):
        from . import hooks

        self._step_began = time.perf_counter()
        self._undo = hooks.install(self._torch, self)

    def forked(self):
        """A forked child (a dataloader worker, usually) records nothing unless it takes optimizer steps itself."""
        try:
            if self.recorder is not None:
                self.recorder.abandon()
            self.recorder = None
            if self._leaks is not None:
                self._leaks.close()
            self._leaks = None
            self._deep = None
            self._sender = None
            self._trackers = None
            self._pid = os.getpid()
            self.step = 0
            self._clear()
        except Exception:
            self._dead = True

    # -- what the hooks say ------------------------------------------------------------------------------------------

    def optimizer_begins(self, optimizer, closure=False):
        if self._dead or self._engine:
            return
        now = time.perf_counter()
        if self._primary is None:
            self._primary = id(optimizer)
        if id(optimizer) == self._primary:
            self._others = 0
        elif self._others and self._others_first == id(optimizer):
            # Another optimizer came round again without the first: it sets the pace now.
            self._primary = id(optimizer)
            self._others = 0
        else:
            if not self._others:
                self._others_first = id(optimizer)
            self._others += 1
        self._optimizer_began = now
        # A closure (Lightning's way, LBFGS's need) runs forward and backward within the optimizer's step.
        self.phase = "forward" if closure else "optimizer"

    def optimizer_ends(self, optimizer):
        if self._dead or self._engine or self._optimizer_began is None:
            return
        self._optimizer_ended(id(optimizer) == self._primary)

    def engine_begins(self):
        """A framework that steps optimizers as it likes begins a step of its own."""
        if self._dead:
            return
        self._engine = True
        self._optimizer_began = time.perf_counter()
        self.phase = "optimizer"

    def engine_ends(self, stepped):
        if self._dead or not self._engine:
            return
        self._engine = False
        self._optimizer_ended(stepped)

    def _optimizer_ended(self, stepped):
        now = time.perf_counter()
        self._seconds["optimizer"] += now - self._optimizer_began
        self._optimizer_began = None
        self.phase = "forward"
        if not stepped:
            return
        try:
            self._close_step(now)
        except Exception as error:
            self._fail(error)

    def span(self, name, seconds):
        """Time spent in backward, data, save."""
        self._seconds[name] += seconds
        if name == "backward":
            self._micro += 1
            if self._optimizer_began is not None:
                # In a closure: the optimizer's own work begins behind it.
                self._optimizer_began = time.perf_counter()

    def phase_behind(self, name):
        """The phase that follows a span."""
        return "optimizer" if self._optimizer_began is not None and name == "backward" else "forward"

    def training_mode(self, training):
        """A model was switched to training or to evaluation."""
        now = time.perf_counter()
        if not training:
            if self._evaluation_began is None and self.step:
                self._evaluation_began = now
                self.phase = "evaluation"
        elif self._evaluation_began is not None:
            self._seconds["evaluation"] += now - self._evaluation_began
            self._evaluation_began = None
            self.phase = "forward"

    def event(self, kind, **fields):
        if self._dead:
            return
        try:
            self._open()
            fields.setdefault("step", self.step)
            self.recorder.event(kind, **fields)
        except Exception as error:
            self._fail(error)

    def memory(self):
        """The counters now, as a dict, for reports."""
        reading = self._cuda.read() if self._cuda is not None else None
        if reading is None:
            return {}
        return dict(zip(("allocated", "reserved", "peak", "inactive", "retries", "ooms"), reading))

    # -- the record --------------------------------------------------------------------------------------------------

    def _close_step(self, now):
        from . import counters

        if self.recorder is None:
            self._open()
            now = time.perf_counter()
        if self._run_began is None:
            # A Trainer's events may have opened the record before the first step.
            self._run_began = now
        self.step += 1
        seconds = now - self._step_began
        self._step_began = now
        spans = self._seconds
        if self._evaluation_began is not None:
            # Never switched back: this model only serves (a teacher), or the script does not care.
            self._evaluation_began = None
        read = self.step % self._stride == 0
        reading = self._cuda.read() if read else None
        heap = counters.heap_in_use() if read and reading is None else 0
        row = (
            (self.step, time.time(), seconds, spans["backward"], spans["optimizer"], spans["data"], spans["save"],
             spans["evaluation"], self._micro)
            + (reading or NOTHING)
            + (heap,)
        )
        self.recorder.step(row)
        if self._trackers is not None:
            self._trackers.at_step(row)
        for name in spans:
            spans[name] = 0.0
        self._micro = 0
        leaks = self._leaks
        looking = leaks is not None and leaks.looking()
        if leaks is not None and read and not looking:
            leaks.at_rest(self.step, reading[0] if reading else heap, counters.resident(), self._stride)
        self._spent += time.perf_counter() - now
        if leaks is not None and leaks.looking():
            leaks.look(self.step)
        if reading is not None and self.step % 64 == 0 and self._stride < SPARSEST:
            if self._spent > BUDGET * (now - self._run_began):
                self._stride *= 2
                self._spent = 0.0
                self._run_began = now
        if self.step == COUNT_AT and reading is not None:
            self._count_holdings()
        if self._deep is not None:
            self._deep.at_step(self.step)

    def _count_holdings(self):
        """Once: what the memory at rest is, for holding a plan against it. One walk over all objects."""
        from . import holdings

        try:
            held = holdings.Holdings(self._torch)
            self.event("holdings", kinds=held.kinds, modules=held.by_module())
        except Exception:
            pass

    def _open(self):
        """At the first step, not before: only now is it known that this process trains, and which rank it is."""
        if self.recorder is not None:
            return
        import atexit

        from . import __version__, deep, leaks, process, recorder, sender, trackers

        rank, local, world = process.rank()
        host = process.host()
        torch = self._torch
        os.makedirs(self.folder, exist_ok=True)
        self.rank = rank
        head = {
            "k": "head", "v": 1, "rank": rank, "local_rank": local, "world": world, "host": host, "pid": os.getpid(),
            "python": sys.version.split()[0], "torch": getattr(torch, "__version__", None), "probe": __version__,
            "t": time.time(), "argv": list(getattr(sys, "argv", [])), "columns": list(COLUMNS),
        }
        if self._cuda is not None and self._cuda.ready():
            device = self._cuda.device()
            properties = torch.cuda.get_device_properties(device)
            head["device"] = {
                "index": device, "name": properties.name, "total": properties.total_memory,
                "uuid": str(getattr(properties, "uuid", "")),
            }
        self.recorder = recorder.Recorder(self.folder, "rank-%d-%s-%d.jsonl" % (rank, host, os.getpid()), head)
        self.recorder.every(2.0, self._host)
        self._sender = sender.from_environment(self.recorder.path)
        self._trackers = trackers.from_environment(self, COLUMNS)
        if torch is not None and os.environ.get("PLIMSOLL_LEAKS", "1") != "0":
            self._leaks = leaks.Leaks(
                torch, lambda **found: self.event("leak", **found), lambda **seen: self.event("growth", **seen)
            )
        if torch is not None:
            self._deep = deep.from_environment(torch, self)
        atexit.register(self._exit, os.getpid())

    def _host(self):
        from . import counters

        total, count = counters.children_resident()
        self.host_memory = (counters.resident(), total)
        self.recorder.step({"k": "host", "t": time.time(), "resident": self.host_memory[0], "children": total, "count": count})

    def _exit(self, pid):
        if os.getpid() != pid or self.recorder is None:
            return
        try:
            if self._leaks is not None:
                self._leaks.close()
            if self._trackers is not None:
                self._trackers.close()
            self.recorder.event("end", step=self.step, spent=round(self._spent, 4),
                                looked=round(self._leaks.spent, 4) if self._leaks else 0, **self.memory())
            self.recorder.close()
            if self._sender is not None:
                self._sender.close()
        except Exception:
            pass

    def _fail(self, error):
        """Stops watching. The run goes on as if the probe had never been there."""
        self._dead = True
        if os.environ.get("PLIMSOLL_DEBUG"):
            import traceback

            traceback.print_exc()
        try:
            if self.recorder is not None:
                self.recorder.event("note", text="the probe stopped itself: %r" % (error,))
        except Exception:
            pass
