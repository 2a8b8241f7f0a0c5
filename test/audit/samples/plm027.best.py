import torch


def evaluate(model, graph, truth):
    with torch.no_grad():
        return torch.nn.functional.cross_entropy(model(graph), truth)


def train(model, graph, truth, optimizer, epochs):
    model = model.to("cuda")
    graph, truth = graph.to("cuda"), truth.to("cuda")
    best_loss = float("inf")
    for epoch in range(epochs):
        loss = torch.nn.functional.cross_entropy(model(graph), truth)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if loss > 10:  # expect: PLM027
            print("large")
        val_loss = evaluate(model, graph, truth)
        # a note: whoever chooses by it has to know it
        if val_loss < best_loss:  # expect: PLM027
            best_loss = val_loss
            torch.save(model.state_dict(), "best.pt")
