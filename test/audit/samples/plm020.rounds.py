# a reference that scores each round's samples once, above the passes that learn from them
import torch
import torch.nn.functional as F


class Tuner:
    def __init__(self, actor, ref_actor_model, optimizer):
        self.actor = actor
        self.ref_actor_model = ref_actor_model
        self.optimizer = optimizer

    def round(self, prompts):
        with torch.no_grad():
            taken = self.actor.sample(prompts)
        before = self.ref_actor_model.forward_pass(taken)  # expect: PLM020
        for _ in range(4):
            now = self.actor.forward_pass(taken)
            loss = F.kl_div(now, before, log_target=True)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def quiet(self, prompts):
        with torch.no_grad():
            taken = self.actor.sample(prompts)
            before = self.ref_actor_model.forward_pass(taken)
        for _ in range(4):
            now = self.actor.forward_pass(taken)
            loss = F.kl_div(now, before, log_target=True)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def scored(net, taken):
    return F.log_softmax(net(taken), dim=-1)


def tune(actor, ref_model, batches, optimizer):
    for taken in batches:
        before = ref_model(taken)  # expect: PLM020
        again = scored(ref_model, taken)  # expect: PLM020
        for _ in range(4):
            loss = F.kl_div(actor(taken), before + again, log_target=True)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


# trap: once for the whole training
def once(actor, reference_policy, taken, optimizer):
    before = reference_policy.forward_pass(taken)
    for _ in range(400):
        loss = F.kl_div(actor(taken), before, log_target=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


# trap: frozen, it records nothing
def fixed(actor, reference_lm, batches, optimizer):
    reference_lm.requires_grad_(False)
    for taken in batches:
        before = reference_lm.forward_pass(taken)
        for _ in range(4):
            loss = F.kl_div(actor(taken), before, log_target=True)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()


# trap: it learns too, in the passes below
def both(actor, ref_policy_net, batches):
    optimizer = torch.optim.Adam([*actor.parameters(), *ref_policy_net.parameters()])
    for taken in batches:
        before = ref_policy_net.forward_pass(taken)
        for _ in range(4):
            loss = F.kl_div(actor(taken), before, log_target=True)
            optimizer.zero_grad()
            loss.backward(retain_graph=True)
            optimizer.step()


def main(actor, ref, optimizer, loader):
    tuner = Tuner(actor, ref, optimizer)
    for prompts in loader:
        tuner.round(prompts)
        tuner.quiet(prompts)
