import torch
from torch.distributions import Categorical, Normal, kl_divergence


def train(encoder, loader, optimizer, device):
    drawn, priors, rates = [], [], []
    for images, _ in loader:
        mean, spread = encoder(images.to(device))
        posterior = Normal(mean, spread.exp(), validate_args=False)
        prior = Normal(torch.zeros(4), torch.ones(4), validate_args=False)
        rate = kl_divergence(posterior, Normal(0.0, 1.0)).mean()
        loss = (posterior.rsample() - 1).pow(2).mean() + rate
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        # trap: drawn without gradients
        drawn.append(posterior.sample())
        # trap: of numbers alone
        priors.append(kl_divergence(prior, Normal(0.0, 1.0)))
        rates.append(rate)  # expect: PLM002
    return drawn, priors, rates


def reinforce(policy, steps, env, optimizer):
    logs, rewards = [], []
    state = env.reset()
    for _ in range(steps):
        choice = Categorical(logits=policy(state), validate_args=False)
        action = choice.sample()
        # trap: for the backward after the loop
        logs.append(choice.log_prob(action))
        state, reward = env.step(action)
        rewards.append(reward)
    loss = -(torch.stack(logs) * torch.tensor(rewards)).sum()
    loss.backward()
    optimizer.step()
