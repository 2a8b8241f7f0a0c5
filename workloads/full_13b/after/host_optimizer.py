"""A stock optimizer whose state waits in pinned host memory, and so do the gradients.

A gradient leaves the card as soon as backward has completed it. At the step, gradient and state of one parameter after
the other visit the card, where the optimizer's own kernel updates it: the next comes in and the last goes out meanwhile.
Accumulation and clipping are what they are on the card, so it is the same training.
"""
from collections import deque
from contextlib import nullcontext

import torch

# Smaller state (a step count, a quantisation table) stays on the card.
LEAST = 4096
# Parameters whose copies may be under way at once: more only take memory.
UNDER_WAY = 2


def pinned_like(tensor):
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=tensor.is_cuda)


class Lane:
    """Copies beside the computation; what they read is kept until they are done."""

    def __init__(self, device):
        self.stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self.held = deque()

    def __enter__(self):
        self._inside = torch.cuda.stream(self.stream) if self.stream else nullcontext()
        self._inside.__enter__()

    def __exit__(self, *error):
        self._inside.__exit__(*error)

    def follow(self):
        """What comes next waits for what the computation has queued so far."""
        if self.stream:
            self.stream.wait_stream(torch.cuda.current_stream(self.stream.device))

    def mark(self):
        return self.stream.record_event() if self.stream else None

    def hold(self, *tensors):
        self.held.append((self.mark(), tensors))
        while len(self.held) > UNDER_WAY:
            self._drop()

    def drain(self):
        while self.held:
            self._drop()

    def _drop(self):
        event, _ = self.held[0]
        if event:
            event.synchronize()
        self.held.popleft()


class HostOptimizer:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.parameters = [p for group in optimizer.param_groups for p in group["params"] if p.requires_grad]
        devices = {p.device for p in self.parameters}
        self.inward, self.outward = ({d: Lane(d) for d in devices} for _ in range(2))
        self.gradients, self.norms, self.homes = {}, {}, {}
        self.coefficient = self.visiting = None
        # As a hook of the optimizer's, so that who watches its steps sees gradients as they were before clipping.
        optimizer.register_step_pre_hook(self._scale)
        for parameter in self.parameters:
            parameter.register_post_accumulate_grad_hook(self._leave)

    @torch.no_grad()
    def _leave(self, parameter):
        gradient, parameter.grad = parameter.grad, None
        home = self.gradients.get(parameter)
        if home is None:
            home = self.gradients[parameter] = pinned_like(gradient)
        lane = self.outward[parameter.device]
        lane.follow()
        with lane:
            if parameter in self.norms:
                gradient.add_(home.to(gradient.device, non_blocking=True))
            self.norms[parameter] = torch.linalg.vector_norm(gradient)
            home.copy_(gradient, non_blocking=True)
        lane.hold(gradient)

    @torch.no_grad()
    def clip(self, largest_norm):
        self._settle()
        first = self.parameters[0].device
        norms = [self.norms[p].to(first) for p in self.parameters if p in self.norms]
        total = torch.linalg.vector_norm(torch.stack(norms))
        self.coefficient = torch.clamp(largest_norm / (total + 1e-6), max=1.0)
        return total

    @torch.no_grad()
    def step(self):
        self._settle()
        waiting = [p for p in self.parameters if p in self.norms]
        coming = self._fetch(waiting[0])
        for parameter, following in zip(waiting, [*waiting[1:], None]):
            gradient, came = coming
            coming = self._fetch(following) if following is not None else None
            if came:
                torch.cuda.current_stream(parameter.device).wait_event(came)
            parameter.grad, self.visiting = gradient, parameter
            self.optimizer.step()  # the only parameter with a gradient
            assert self.visiting is None, "the optimizer does not call its hooks"
            parameter.grad = None
            self._send_home(parameter, gradient)
        self._settle()

    def _scale(self, *_):
        parameter, self.visiting = self.visiting, None
        if self.coefficient is not None:
            parameter.grad.mul_(self.coefficient.to(parameter.device))

    def _fetch(self, parameter):
        lane = self.inward[parameter.device]
        state = self.optimizer.state[parameter]
        with lane:
            gradient = self.gradients[parameter].to(parameter.device, non_blocking=True)
            for name, home in self.homes.get(parameter, {}).items():
                state[name] = home.to(parameter.device, non_blocking=True)
        return gradient, lane.mark()

    def _send_home(self, parameter, gradient):
        lane = self.outward[parameter.device]
        state, homes = self.optimizer.state[parameter], self.homes.setdefault(parameter, {})
        visitors = {k: v for k, v in state.items() if torch.is_tensor(v) and v.is_cuda and v.numel() >= LEAST}
        lane.follow()
        with lane:
            for name, visitor in visitors.items():
                if name not in homes:
                    homes[name] = pinned_like(visitor)
                homes[name].copy_(visitor, non_blocking=True)
                state[name] = homes[name]
        lane.hold(gradient, *visitors.values())

    def _settle(self):
        for lane in self.outward.values():
            lane.drain()

    def zero_grad(self):
        self.norms.clear()
        self.coefficient = None


class CardOptimizer:
    """The same doors around an optimizer whose state is where its parameters are."""

    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.parameters = [p for group in optimizer.param_groups for p in group["params"]]

    def clip(self, largest_norm):
        return torch.nn.utils.clip_grad_norm_(self.parameters, largest_norm)

    def step(self):
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()
