import torch


def sing(voices, choir, judge, hymn, optimizer):
    with torch.no_grad():
        wanted = judge(hymn)  # expect: PLM080
    gap = (choir(voices.cuda()) - wanted).pow(2).mean()
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()


def rehearse(choir, judge, hymn, loader, optimizer):
    judge.eval()
    for weight in judge.parameters():
        weight.requires_grad = False
    for voices in loader:
        sing(voices, choir, judge, hymn, optimizer)


# What is judged comes with each turn.
def hum(voices, choir, critic, tune, optimizer):
    with torch.no_grad():
        wanted = critic(tune.cuda())
    gap = (choir(voices.cuda()) - wanted).pow(2).mean()
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()


def practise(choir, critic, loader, optimizer):
    critic.eval()
    for weight in critic.parameters():
        weight.requires_grad = False
    for voices, tune in loader:
        hum(voices, choir, critic, tune, optimizer)


# Carried from turn to turn by what the call gives back.
def chant(voices, choir, elder, verse, optimizer):
    with torch.no_grad():
        wanted = elder(verse)
    gap = (choir(voices.cuda()) - wanted).pow(2).mean()
    gap.backward()
    optimizer.step()
    optimizer.zero_grad()
    return wanted


def perform(choir, elder, verse, loader, optimizer):
    elder.eval()
    for weight in elder.parameters():
        weight.requires_grad = False
    for voices in loader:
        verse = chant(voices, choir, elder, verse, optimizer)


class Player:
    def __init__(self, actor, old, rounds):
        self.actor = actor.cuda()
        self.old_actor = Policy().cuda()
        self.optimizer = torch.optim.SGD(self.actor.parameters(), lr=0.1)
        self.rounds = rounds

    def improve(self, states, gains):
        self.states = states
        self.gains = gains
        self.old_actor.load_state_dict(self.actor.state_dict())
        for _ in range(self.rounds):
            self.play()

    def play(self):
        with torch.no_grad():
            before = self.old_actor(self.states)  # expect: PLM080
        gap = ((self.actor(self.states) - before) * self.gains).mean()
        self.optimizer.zero_grad()
        gap.backward()
        self.optimizer.step()


class Chaser:
    def __init__(self, actor, rounds):
        self.actor = actor.cuda()
        self.old_actor = Policy().cuda()
        self.optimizer = torch.optim.SGD(self.actor.parameters(), lr=0.1)
        self.rounds = rounds

    def improve(self, states, gains):
        self.states = states
        self.gains = gains
        for _ in range(self.rounds):
            self.play()

    # It follows the other one in every turn.
    def play(self):
        with torch.no_grad():
            before = self.old_actor(self.states)
        gap = ((self.actor(self.states) - before) * self.gains).mean()
        self.optimizer.zero_grad()
        gap.backward()
        self.optimizer.step()
        self.old_actor.load_state_dict(self.actor.state_dict())
