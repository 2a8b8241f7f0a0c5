import torch
import torch.nn.functional as F


class Agent:
    def __init__(self, actor, critic, device="cuda"):
        self.actor = torch.nn.Linear(4, 2).to(device)
        self.critic = torch.nn.Linear(6, 1).to(device)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters())
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def train(self, replay_buffer, batch_size=256):
        state, action, reward = replay_buffer.sample(batch_size)
        current = self.critic(torch.cat([state, action], 1))
        critic_loss = F.mse_loss(current, reward)
        self.critic_optimizer.zero_grad()
        critic_loss.backward(retain_graph=True)  # expect: PLM007
        self.critic_optimizer.step()
        actor_loss = -self.critic(torch.cat([state, self.actor(state)], 1)).mean()
        self.actor_optimizer.zero_grad()
        actor_loss.backward()
        self.actor_optimizer.step()

    # trap: what a policy draws brings its graph, and both losses are made of it
    def shared(self, policy, state, reward):
        action, likelihood = policy.sample(state)
        value = self.critic(torch.cat([state, action], 1))
        critic_loss = F.mse_loss(value, reward)
        critic_loss.backward(retain_graph=True)
        self.critic_optimizer.step()
        actor_loss = (likelihood * value).mean()
        actor_loss.backward()
        self.actor_optimizer.step()
