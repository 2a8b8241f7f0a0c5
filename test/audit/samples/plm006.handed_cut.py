"""Agents whose recurrent state goes on with its graph, where all that they hand out is cut off or sent to the host."""

import torch
from library.agents import BaseAgent, RecurrentMixin
from library.buffers import buffer_method, buffer_to, tree_map
from torch import nn


class Sampler(RecurrentMixin, BaseAgent):
    def step(self, observation, prev_action, prev_reward):
        action, state = self.model(observation, prev_action, self.prev_rnn_state)
        self.advance_rnn_state(state)  # likely: PLM006
        return buffer_to(buffer_method(action, "detach"), device="cpu")


class SentAgent(RecurrentMixin, BaseAgent):
    def step(self, observation, prev_action, prev_reward):
        action, state = self.model(observation, prev_action, self.prev_rnn_state)
        self.advance_rnn_state(state)  # likely: PLM006
        return action.cpu()


class TreeAgent:
    def __init__(self, net: nn.Module):
        self.net = net
        self.belief = None

    def step(self, observation):
        out, belief = self.net(observation, self.belief)
        self.belief = belief  # likely: PLM006
        return tree_map(torch.detach, out)


class CutAgent(RecurrentMixin, BaseAgent):
    def step(self, observation, prev_action, prev_reward):
        action, state = self.model(observation, prev_action, self.prev_rnn_state)
        state = buffer_method(state, "detach")
        # trap: cut off from the observation before
        self.advance_rnn_state(state)
        return buffer_method(action, "detach")


class CutTreeAgent:
    def __init__(self, net: nn.Module):
        self.net = net
        self.cut_belief = None

    def step(self, observation):
        out, belief = self.net(observation, self.cut_belief)
        # trap: the same, over a tree
        self.cut_belief = tree_map(torch.detach, belief)
        return tree_map(torch.detach, out)


class DrawingAgent(RecurrentMixin, BaseAgent):
    def step(self, observation, prev_action, prev_reward):
        seen = self.embed(torch.from_numpy(prev_action), observation)
        action, state = self.model(seen, self.prev_rnn_state)
        # trap: it hands out what it has computed as it is, which somebody may differentiate
        self.advance_rnn_state(state)
        return action, state


class ShyAgent:
    def __init__(self, core: nn.Module, head: nn.Module):
        self.core = core
        self.head = head
        self.memory = None

    def get_action(self, obs):
        seen, self.memory = self.core(obs, self.memory)  # expect: PLM006
        with torch.no_grad():
            return self.head(seen).argmax(-1)


class PlainAgent:
    def __init__(self, core: nn.Module):
        self.core = core
        self.carry = None

    def select_action(self, obs):
        seen, self.carry = self.core(obs, self.carry)  # expect: PLM006
        return to_numpy(seen.argmax(-1))
