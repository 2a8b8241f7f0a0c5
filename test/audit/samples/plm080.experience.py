import torch

from ours import gathered, mask_some, taken


class Learner:
    def __init__(self, policy, reference, ref_policy, optimizer):
        self.policy = policy.cuda()
        self.reference = reference.cuda()
        self.ref_policy = ref_policy.cuda()
        self.optimizer = optimizer

    @torch.no_grad()
    def rollout(self, prompts):
        texts = self.policy.generate(prompts)
        told = self.policy(texts)
        kept = self.ref_policy(texts)
        held = gathered(self.reference(texts).logits, texts)
        return {"texts": texts, "logprobs": told["logprobs"], "ref": kept["logprobs"], "held": held}

    def learn(self, prompts):
        rollouts = self.rollout(prompts)
        for _ in range(4):
            for rows in torch.randperm(len(prompts)).split(8):
                loss = self.loss({key: value[rows] for key, value in rollouts.items()})
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()

    def loss(self, rollouts):
        texts, before = taken(rollouts, keys=("texts", "logprobs"))
        told = self.policy(texts)
        with torch.no_grad():
            fixed = self.ref_policy(texts)  # likely: PLM080
            held = gathered(self.reference(texts).logits, texts)  # likely: PLM080
            # trap: the rollout has kept nothing of that
            spread = self.ref_policy(texts)["entropies"]
            # trap: another text in each step
            hidden = mask_some(texts)
            guessed = self.ref_policy(hidden)["logprobs"]
        apart = (told["logprobs"] - fixed["logprobs"]).mean() + (told["logprobs"] - held).mean()
        return (told["logprobs"] - before).mean() + apart + spread.mean() + guessed.mean()


class Preferring:
    def __init__(self, policy, ref_model, optimizer):
        self.policy = policy.cuda()
        self.ref_model = ref_model.cuda()
        self.optimizer = optimizer

    def train(self, loader):
        for batch in loader:
            loss = self.loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def loss(self, batch):
        with torch.no_grad():
            # trap: each batch comes anew
            fixed = self.ref_model(batch["texts"])["logprobs"]
        return (self.policy(batch["texts"])["logprobs"] - fixed).mean()

    @torch.no_grad()
    def judge(self, batch):
        return self.ref_model(batch["texts"])["logprobs"].mean()
