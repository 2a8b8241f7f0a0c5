import torch


def tune(policy, rollouts, optimizer, args, device):
    policy.train()
    for ids, gains in rollouts:
        ids = ids.to(device)
        output = policy(ids, attention_mask=ids != args.pad_token_id)
        logits = output.logits[:, args.prompt - 1 : -1]
        cooled = logits / (args.temperature + 1e-6)  # expect: PLM048
        chosen = torch.gather(cooled.log_softmax(-1), 2, ids[:, args.prompt :].unsqueeze(-1)).squeeze(-1)
        loss = -(gains.to(device) * chosen).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def sort(reader, batches, optimizer, args, device):
    reader.train()
    for ids, kinds in batches:
        logits = reader(ids.to(device), attention_mask=ids != args.pad_token_id).logits[: args.few]
        # trap: some of the examples, each a row of its few classes
        cooled = logits / args.temperature
        loss = torch.nn.functional.cross_entropy(cooled, kinds[: args.few].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def rebound(policy, rollouts, optimizer, args, device):
    policy.train()
    for ids in rollouts:
        logits = policy(ids.to(device)).logits[:, args.prompt - 1 : -1]
        # trap: the first one goes as the second is named
        logits = logits / args.temperature
        loss = logits.logsumexp(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
