import torch


def load(path, model):
    if torch.cuda.is_available():
        # No fix: with it both branches would be the same.
        state = torch.load(path)  # expect: PLM049
    else:
        state = torch.load(path, map_location="cpu")
    model.load_state_dict(state)
    return model.cuda()
