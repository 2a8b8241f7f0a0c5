import torch
from transformers import AutoModelForCausalLM


def tune(name, batches, temperature, device):
    policy = AutoModelForCausalLM.from_pretrained(name).to(device)
    optimizer = torch.optim.SGD(policy.parameters(), lr=1e-5)
    for ids, picked, worth in batches:
        answer = policy(input_ids=ids)
        scores = answer.logits
        scores = scores / temperature  # expect: PLM048
        chosen = scores.gather(-1, picked.unsqueeze(-1)) - scores.logsumexp(-1, keepdim=True)

        second = policy(input_ids=ids)
        others = second.logits[:, :-1] / temperature  # expect: PLM048
        chosen = chosen + others.logsumexp(-1, keepdim=True)

        # trap: nothing else holds it: the first one goes.
        freed = policy(input_ids=ids).logits
        freed = freed / temperature

        # trap: in place there is one.
        third = policy(input_ids=ids)
        placed = third.logits
        placed /= temperature

        # trap: dropped in between.
        fourth = policy(input_ids=ids)
        taken = fourth.logits
        del fourth
        taken = taken / temperature

        # trap: of the last place alone there are few.
        fifth = policy(input_ids=ids)
        last = fifth.logits[:, -1] / temperature

        # trap: its answer is asked for something else below, so that it has to stay.
        sixth = policy(input_ids=ids, labels=ids)
        soft = sixth.logits / temperature

        total = [one.logsumexp(-1).mean() for one in (freed, placed, taken, last, soft)]
        loss = sum(total) - (chosen.squeeze(-1) * worth).mean() + sixth.loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
