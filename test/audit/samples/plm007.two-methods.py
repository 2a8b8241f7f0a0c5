"""Methods of one step, which go through what another one of them has run."""


class Pair:
    def run(self):
        self.fake = self.maker(self.noise)

    def learn_judge(self, keep):
        loss = self.measure(self.judge(self.fake), False)
        # trap: the maker learns from the same graph
        loss.backward(retain_graph=keep)

    def learn_maker(self):
        loss = self.measure(self.judge(self.fake), True)
        loss.backward()

    def step(self):
        self.run()
        self.judge_optimizer.zero_grad()
        self.learn_judge(True)
        self.maker_optimizer.zero_grad()
        self.learn_maker()
        self.maker_optimizer.step()


class Apart:
    def run(self):
        self.fake = self.maker(self.noise)

    def learn_judge(self, keep):
        loss = self.measure(self.judge(self.fake.detach()), False)
        loss.backward(retain_graph=keep)  # expect: PLM007

    def learn_maker(self):
        loss = self.measure(self.judge(self.fake), True)
        loss.backward()

    def step(self):
        self.run()
        self.judge_optimizer.zero_grad()
        self.learn_judge(keep=True)
        self.judge_optimizer.step()
        self.maker_optimizer.zero_grad()
        self.learn_maker()
        self.maker_optimizer.step()
