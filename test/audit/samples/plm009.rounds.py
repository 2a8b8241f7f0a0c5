import torch
import torch.nn.functional as F
from transformers import AutoModelForCausalLM


def learn(policy, elder, prompts, opt, rounds, passes):
    policy: AutoModelForCausalLM
    for turn in range(1, rounds + 1):
        with torch.no_grad():
            ids = policy.generate(next(prompts), max_new_tokens=64)
            told = elder(ids)
            rows = F.log_softmax(told.logits[:, :-1], dim=-1)  # expect: PLM009
            theirs = torch.gather(rows, 2, ids[:, 1:, None]).squeeze(-1)
            # trap: deleted
            own = F.log_softmax(policy(ids).logits[:, :-1], dim=-1)
            before = torch.gather(own, 2, ids[:, 1:, None]).squeeze(-1)
            del own
        for _ in range(passes):
            scores = policy(ids).logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
            loss = (scores - theirs + before).mean()
            loss.backward()
            opt.step()
            opt.zero_grad()


def learn_whole(policy, elder, prompts, opt, rounds, passes):
    for turn in range(1, rounds + 1):
        with torch.no_grad():
            ids = policy.generate(next(prompts), max_new_tokens=64)
            # trap: each step compares with all of it
            rows = F.log_softmax(elder(ids).logits[:, :-1], dim=-1)
        for _ in range(passes):
            loss = F.kl_div(policy(ids).logits[:, :-1].log_softmax(-1), rows, log_target=True)
            loss.backward()
            opt.step()
            opt.zero_grad()


def learn_by_parts(policy, elder, prompts, opt, rounds, passes):
    for turn in range(1, rounds + 1):
        with torch.no_grad():
            ids = policy.generate(next(prompts), max_new_tokens=64)
            # trap: each step gathers what it wants
            rows = F.log_softmax(elder(ids).logits[:, :-1], dim=-1)
        for _ in range(passes):
            other = policy.generate(next(prompts), max_new_tokens=64)
            loss = rows.gather(-1, other[:, 1:, None]).mean() - policy(other).logits.mean()
            loss.backward()
            opt.step()
            opt.zero_grad()
