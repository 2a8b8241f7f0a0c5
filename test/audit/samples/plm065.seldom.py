import torch.nn.functional as F


def learn(agent, env, optimizer, scaler, every):
    for step in range(100000):
        env.act()
        # trap: drawn, cleared, differentiated and stepped in the same turn
        if step % every == 0:
            states, wanted = env.sample()
            loss = F.smooth_l1_loss(agent(states), wanted)
            optimizer.zero_grad()
            if scaler is not None:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
            else:
                loss.backward()
                optimizer.step()


def train(net, loader, optimizer, every):
    for step, (x, y) in enumerate(loader):
        loss = F.cross_entropy(net(x), y)
        if (step + 1) % every == 0 or step + 1 == len(loader):
            loss.backward()  # expect: PLM065
            optimizer.step()
            optimizer.zero_grad()
        else:
            with net.no_sync():
                loss.backward()
