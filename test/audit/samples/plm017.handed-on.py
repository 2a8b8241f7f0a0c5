from collections import deque

import torch

device = torch.device("cuda")


def take_step(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


class Bidder:
    def __init__(self, market, bids, cuts):
        self.market = market
        self.bids = bids
        self.cuts = cuts
        self.offers = deque(maxlen=4000)
        self.goods = deque(maxlen=4000)
        self.shown = deque(maxlen=4000)
        self.wanted = deque(maxlen=4000)

    def learn(self, goods, wanted):
        cuts = self.market.cuts(goods)
        offers = self.market.offers_at(goods, cuts)
        self.offers.append(offers)  # expect: PLM017
        # trap: what was handed in
        self.goods.append(goods)
        # trap: cut off
        self.shown.append(offers.detach())
        prices = self.market.prices_at(goods)
        # trap: cut off wherever it is wanted, and differentiated nowhere
        self.wanted.append(prices)
        take_step(self.cuts, self.cut_loss(cuts, offers.detach(), prices.detach()))
        offer_loss = self.offer_loss(goods, offers, wanted)
        take_step(self.bids, offer_loss)


def train(bidder, loader):
    for goods, wanted in loader:
        bidder.learn(goods.to(device), wanted.to(device))
