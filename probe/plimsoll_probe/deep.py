"""Windows of steps with more to see, and more to pay."""


def from_environment(torch, session):
    return None
