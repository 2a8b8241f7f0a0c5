# a method of what holds a network, on the same samples in each pass over them
import torch
import torch.nn.functional as F


class Tuner:
    def __init__(self, writer, prior_model, critic_model, optimizer):
        self.writer = writer
        self.prior_model = prior_model
        self.critic_model = critic_model
        self.optimizer = optimizer

    def round(self, prompts):
        self.prior_model.net.eval()
        self.writer.net.eval()
        self.critic_model.net.eval()
        with torch.no_grad():
            taken = self.writer.sample(prompts)
        given = {"prompts": prompts, "taken": taken}
        self.writer.net.train()
        self.critic_model.net.train()
        for _ in range(4):
            with torch.no_grad():
                before = self.prior_model.forward_pass(**given)  # expect: PLM080
                # trap: they learn, by their parts
                values = self.critic_model.forward_pass(**given)
                old = self.writer.forward_pass(**given)
            now = self.writer.forward_pass(**given)
            loss = F.kl_div(now, before, log_target=True) + (old - values).mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class Other:
    def __init__(self, actor, ref_policy, guide_model, optimizer):
        self.actor = actor
        self.ref_policy = ref_policy
        self.guide_model = guide_model
        self.optimizer = optimizer

    def round(self, states, picks):
        for _ in range(4):
            with torch.no_grad():
                before = self.ref_policy.log_probs(states, picks)  # expect: PLM080
                # trap: drawn anew each time
                drawn = self.ref_policy.sample(states)
                # trap: nothing says that it drops nothing
                hints = self.guide_model.forward_pass(states)
            loss = (self.actor.log_probs(states, picks) - before + drawn - hints).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class Followed:
    def __init__(self, actor, ref_policy, optimizer):
        self.actor = actor
        self.ref_policy = ref_policy
        self.optimizer = optimizer

    def round(self, states, picks):
        for _ in range(4):
            # trap: it is given the weights of what learns, a part at a time
            self.ref_policy.trunk.load_state_dict(self.actor.trunk.state_dict())
            with torch.no_grad():
                before = self.ref_policy.log_probs(states, picks)
            loss = (self.actor.log_probs(states, picks) - before).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class Batches:
    def __init__(self, actor, ref_policy, optimizer):
        self.actor = actor
        self.ref_policy = ref_policy
        self.optimizer = optimizer

    def round(self, loader):
        for batch in loader:
            # trap: another batch in each turn
            with torch.no_grad():
                before = self.ref_policy.forward_pass(**batch)
            loss = (self.actor.forward_pass(**batch) - before).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
