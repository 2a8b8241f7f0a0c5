import torch


def scores(batch, policy, ref_model):
    ours = policy(batch).log_softmax(-1)
    # trap: told of where it is called
    theirs = ref_model(batch).log_softmax(-1)
    return ours.mean(), theirs.mean()


def still_scores(batch, policy, ref_model):
    ours = policy(batch).log_softmax(-1)
    # trap: nothing is recorded
    with torch.no_grad():
        theirs = ref_model(batch).log_softmax(-1)
    return ours.mean(), theirs.mean()


@torch.no_grad()
def check(policy, ref_model, loader):
    return [scores(batch, policy, ref_model) for batch in loader]


def prefer(policy, ref_model, loader, optimizer):
    for batch in loader:
        ours, theirs = scores(batch, policy, ref_model)  # expect: PLM020
        more, others = still_scores(batch, policy, ref_model)
        loss = theirs - ours + others - more
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    check(policy, ref_model, loader)
