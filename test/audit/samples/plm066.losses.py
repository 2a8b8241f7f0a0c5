"""Losses that one method computes and another differentiates, each with an optimizer that is named like it."""

import torch
from project.modules import Frozen, parameters_of


class Imagining:
    def start(self, agent):
        self.agent = agent
        model = agent.model
        self.world_modules = [model.encoder, model.reward_model]
        self.actor_modules = [model.decoder]
        self.value_modules = [model.value_model]
        self.world_optimizer = torch.optim.Adam(parameters_of(self.world_modules), lr=6e-4)
        self.actor_optimizer = torch.optim.Adam(parameters_of(self.actor_modules), lr=8e-5)
        self.value_optimizer = torch.optim.Adam(parameters_of(self.value_modules), lr=8e-5)

    def losses(self, batch):
        model = self.agent.model
        state = model.encoder(batch)
        world_loss = -model.reward_model(state).log_prob(batch.reward).mean()
        with torch.no_grad():
            # trap: what is made so has no graph
            begun = model.encoder(batch).reshape(-1, 8)
        imagined = model.decoder(begun)
        rewards = model.reward_model(imagined).mean  # likely: PLM066
        values = model.value_model(imagined).mean
        actor_loss = -(rewards + values).mean()
        # trap: the value's own
        value = model.value_model(imagined.detach())
        value_loss = -value.log_prob(rewards.detach()).mean()
        return world_loss, actor_loss, value_loss

    def careful_losses(self, batch):
        model = self.agent.model
        imagined = model.decoder(batch)
        with Frozen(self.world_modules + self.value_modules):
            # trap: frozen for as long as it is run
            rewards = model.reward_model(imagined).mean
            values = model.value_model(imagined).mean
        actor_loss = -(rewards + values).mean()
        # trap: no gradients go back into it
        weights = model.reward_model(imagined).detach()
        value_loss = -(weights * model.value_model(imagined.detach()).mean).mean()
        return actor_loss, value_loss

    def learn(self, batch):
        world_loss, actor_loss, value_loss = self.losses(batch)
        self.world_optimizer.zero_grad()
        self.actor_optimizer.zero_grad()
        self.value_optimizer.zero_grad()
        world_loss.backward()
        actor_loss.backward()
        value_loss.backward()
        self.world_optimizer.step()
        self.actor_optimizer.step()
        self.value_optimizer.step()


class Agent:
    def __init__(self, nets):
        self.policy, self.critic = nets.policy, nets.critic
        self.optim_policy = torch.optim.Adam(list(self.policy.parameters()))
        self.critic_opt = torch.optim.Adam([p for p in self.critic.parameters()])

    def both(self, state, action, wanted):
        loss_q = (self.critic(state, action) - wanted).pow(2).mean()
        loss_pi = -self.critic(state, self.policy(state)).mean()  # likely: PLM066
        return loss_q, loss_pi

    def learn(self, state, action, wanted):
        loss_q, loss_pi = self.both(state, action, wanted)
        (loss_q + loss_pi).backward()
        self.critic_opt.step()
        self.optim_policy.step()


class Switching:
    def __init__(self, nets):
        self.policy, self.critic = nets.policy, nets.critic
        self.policy_optimizer = torch.optim.Adam(self.policy.parameters())
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def judged(self, state):
        # trap: whoever calls it has switched the critic off
        policy_loss = -self.critic(state, self.policy(state)).mean()
        return policy_loss

    def learn(self, state):
        self.critic.requires_grad_(False)
        loss = self.judged(state)
        loss.backward()
        self.policy_optimizer.step()
        self.critic.requires_grad_(True)
