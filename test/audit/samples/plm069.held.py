"""Losses that an attribute holds, of what a function of nobody's here handed back."""


class Engine:
    def __init__(self, graph, optim, board):
        self.graph = graph.to("cuda")
        self.optim, self.board = optim, board

    def epoch(self, batches):
        for it, batch in enumerate(batches):
            self.turn(batch, it)
            self.plain(batch, it)

    def turn(self, batch, it):
        self.optim.zero_grad()
        terms = weighed(self.graph, batch)
        terms.whole.backward()
        self.optim.step()
        self.board.add_scalar("whole", terms.whole, it)  # expect: PLM069
        # trap: nobody says what that is
        self.board.add_scalar("rate", terms.rate, it)

    def plain(self, batch, it):
        self.optim.zero_grad()
        parts = weighed(self.graph, batch)
        parts.whole.backward()
        self.optim.step()
        parts.whole = float(parts.shown)
        # trap: a number by now
        self.board.add_scalar("whole", parts.whole, it)
