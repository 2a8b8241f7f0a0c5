import torch
from transformers import AutoModelForCausalLM


def run(policy, ids, pad):
    mask = ids != pad
    return policy(input_ids=ids.masked_fill(~mask, 0), attention_mask=mask)


def count(policy, ids):
    return len(ids), policy.config.vocab_size


def improve(name, rollouts, prompt, device):
    policy = AutoModelForCausalLM.from_pretrained(name).to(device)
    optimizer = torch.optim.AdamW(policy.parameters())
    for ids, gains in rollouts:
        output, guess = run(policy, ids.to(device), 0)  # expect: PLM009
        scores = output.logits[:, prompt - 1 : -1]
        loss = -(gains * scores.logsumexp(-1)).mean() + guess.square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def dropped(policy, rollouts, optimizer, device):
    for ids, gains in rollouts:
        # trap: deleted in the turn that made it
        output, guess = run(policy, ids.to(device), 0)
        loss = -(gains * output.logits.logsumexp(-1)).mean() + guess.square().mean()
        loss.backward()
        del output
        optimizer.step()
        optimizer.zero_grad()


def counted(policy, rollouts, optimizer, device):
    for ids in rollouts:
        # trap: no network was run for these
        outputs, width = count(policy, ids)
        loss = policy(input_ids=ids.to(device), labels=ids.to(device))[0] * outputs / width
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def in_parts(policy, batches, optimizer, device):
    for batch in batches:
        for ids, gains in batch:
            output, guess = run(policy, ids.to(device), 0)  # expect: PLM009
            loss = -(gains * output.logits.logsumexp(-1)).mean() + guess.square().mean()
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del output
