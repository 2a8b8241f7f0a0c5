import torch


def on_the_way(model, loader, optimizer, n):
    for i, x in enumerate(loader):
        (model(x).mean() / n).backward()
        if n > 1 and (i + 1) % n != 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)  # likely: PLM079
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def restarted(model, batches, optimizer, clip, rng):
    for batch in batches:
        r = 0.0
        while r < 0.2:
            r = rng.random()
            model(batch).mean().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)  # likely: PLM079
        optimizer.step()
        optimizer.zero_grad()


def in_the_turn_that_steps(model, loader, optimizer, n):
    for i, x in enumerate(loader):
        (model(x).mean() / n).backward()
        # trap: the same turn, written differently
        if i % n == n - 1:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


def after_all(model, batches, optimizer, clip):
    for batch in batches:
        for micro in batch:
            model(micro).mean().backward()
        # trap: once, before the step
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        optimizer.zero_grad()


class Grouped:
    def fit(self, groups, warm):
        seen = 0
        for group in groups:
            if self.explores:
                self.loss(group).backward()
                seen += 1
                if seen >= self.config.groups:
                    # trap: in the turns in which the optimizer steps, right below it
                    torch.nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], 5.0)
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    seen = 0
            if warm:
                self.other_loss(group).backward()
                self.other_optimizer.step()
        if seen > 0:
            torch.nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.requires_grad], 5.0)
            self.optimizer.step()


class Trainer:
    def train_epoch(self, groups):
        count = 0
        for inner in range(self.config.inner):
            for group in groups:
                loss = self.loss(group)
                (loss / self.config.groups).backward()
                count += 1
                if count >= self.config.groups:
                    # trap: in the turns in which the optimizer steps, right below it
                    torch.nn.utils.clip_grad_norm_(self.model.parameters(), max_norm=5.0)
                    self.optimizer.step()
                    self.optimizer.zero_grad()
                    count = 0
