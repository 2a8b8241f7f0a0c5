import torch
import torch.nn.functional as F
from diffusers import StableDiffusionPipeline


def distil(student, teacher, loader, optimizer):
    student.train()
    teacher.eval()
    for x in loader:
        goal = teacher(x)  # expect: PLM020
        loss = F.mse_loss(student(x), goal)
        loss.backward()
        optimizer.step()


def quiet(student, teacher, loader, optimizer):
    student.train()
    teacher.eval()
    for x in loader:
        with torch.no_grad():
            # trap: nothing is recorded
            goal = teacher(x)
        F.mse_loss(student(x), goal).backward()
        optimizer.step()


def frozen(student, teacher, loader, optimizer):
    student.train()
    teacher.eval()
    teacher.requires_grad_(False)
    for x in loader:
        # trap: frozen, with inputs that carry no gradient
        goal = teacher(x)
        F.mse_loss(student(x), goal).backward()
        optimizer.step()


def perceptual(student, critic, loader, optimizer):
    student.train()
    critic.eval()
    for x in loader:
        made = student(x)
        # trap: gradients must pass through it
        loss = critic(made).mean()
        loss.backward()
        optimizer.step()


class Average(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.module = model
        self.module.eval()

    def forward(self, *args, **kwargs):
        # trap: hands on whatever its caller is about
        return self.module(*args, **kwargs)


def project(generator, latent, steps):
    generator.eval()
    latent.requires_grad = True
    optimizer = torch.optim.Adam([latent], lr=0.1)
    for _ in range(steps):
        noisy = latent + torch.randn_like(latent)
        # trap: the gradient goes through it, to what learns
        image = generator(noisy)
        image.mean().backward()
        optimizer.step()


class Imagined:
    def __init__(self, actor, critic, critic_target):
        self.actor, self.critic, self.critic_target = actor, critic, critic_target
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)

    def update_actor(self, obs):
        # trap: the actor learns through it, though its mean is kept without a graph too
        value = self.critic_target(obs, self.actor(obs))
        self.mean = value.mean().detach()
        loss = -value.mean()
        self.actor_opt.zero_grad()
        loss.backward()
        self.actor_opt.step()

    def update_critic(self, obs, reward):
        value = self.critic_target(obs, self.actor(obs))  # expect: PLM020
        target = (reward + 0.9 * value).detach()
        loss = (self.critic(obs) - target).pow(2).mean()
        loss.backward()
        self.actor_opt.step()


def pictures(accelerator, loader, name, prompts, settings):
    reader = CLIPTextModel(settings)
    reader.eval()
    other = CLIPTextModel(settings)
    other.eval()
    unet = UNet2DConditionModel.from_pretrained(name)
    unet.train()
    other = accelerator.prepare(other)
    optimizer = torch.optim.AdamW(unet.parameters())
    for x, ids in loader:
        states = reader(ids)[0]  # expect: PLM020
        # trap: prepared for training
        more = other(ids)[0]
        loss = unet(x, states + more).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    pipeline = StableDiffusionPipeline.from_pretrained(name, text_encoder=reader, unet=unet)
    return pipeline(prompts)
