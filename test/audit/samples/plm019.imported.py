import torch
from losses_of_pairs import mean_loss, pair_loss


def fit(model, teacher, train_data, test_data, optimizer):
    model.cuda()
    for epoch in range(3):
        model.train()
        for batch in train_data:
            loss = pair_loss(model, teacher, batch, True) + mean_loss(model, batch)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        model.eval()
        total = 0.0
        for batch in test_data:
            total += mean_loss(model, batch).item()  # expect: PLM019
        for batch in test_data:
            # trap: told that nobody learns here, it may record nothing
            total += pair_loss(model, teacher, batch, False).item()
        for batch in test_data:
            # trap: of another network, which learns nothing
            total += mean_loss(teacher, batch).item()
        with torch.no_grad():
            for batch in test_data:
                # trap: nothing is recorded
                total += mean_loss(model, batch).item()
        print(total)
