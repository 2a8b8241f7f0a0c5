"""Recurrent states that an agent has another method keep from one observation to the next."""

import torch
from library.agents import BaseAgent, RecurrentMixin
from library.buffers import buffer_to
from torch import nn


class Walker(RecurrentMixin, BaseAgent):
    def step(self, observation, prev_action, prev_reward):
        inputs = buffer_to((observation, prev_action), device=self.device)
        action, state = self.model(*inputs, self.prev_rnn_state)
        action = self.explore(action.detach())
        self.advance_rnn_state(state)  # likely: PLM006
        return buffer_to(action, device="cpu")

    @torch.no_grad()
    def value_of(self, observation, prev_action):
        # trap: nothing is recorded
        value, state = self.model(observation, prev_action, self.prev_rnn_state)
        self.advance_rnn_state(state)
        return value.cpu()


class Learner(RecurrentMixin, BaseAgent):
    def step(self, observation, prev_action, prev_reward):
        # trap: what is learnt from comes out of the act, and so may the state
        log_prob, state = self.model(observation, prev_action, self.prev_rnn_state)
        self.advance_rnn_state(state)
        return log_prob, prev_reward.detach()


class Cut(RecurrentMixin, BaseAgent):
    def step(self, observation, prev_action, prev_reward):
        action, state = self.model(observation, prev_action, self.prev_rnn_state)
        # trap: cut off from the observation before
        self.advance_rnn_state(state.detach())
        return action.detach()


class Player:
    def __init__(self, net: nn.Module):
        self.net = net
        self.carried = None

    def keep_hidden(self, hidden):
        self.carried = hidden

    def act(self, observation):
        scores, hidden = self.net(observation.to("cuda"), self.carried)
        self.keep_hidden(hidden)  # likely: PLM006
        return scores.argmax(-1).item()


class CuttingPlayer:
    def __init__(self, net: nn.Module):
        self.net = net
        self.cut_state = None

    def keep_memory(self, hidden):
        self.cut_state = tuple(one.detach() for one in hidden)

    def act(self, observation):
        scores, hidden = self.net(observation.to("cuda"), self.cut_state)
        # trap: who keeps it cuts it off
        self.keep_memory(hidden)
        return scores.argmax(-1).item()


class Reactive:
    def __init__(self, net: nn.Module):
        self.net = net
        self.trace = None

    def select_action(self, obs):
        found = self.net(self.prepared(obs), self.trace)
        self.trace = found.trace  # likely: PLM006
        return found.scores.argmax(-1).cpu().numpy()
