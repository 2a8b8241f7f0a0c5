def train_epoch(wrapped, loader, optimizer, args):
    if args.gradient_checkpointing:
        wrapped.enable_checkpointing()
    for batch in loader:
        loss = wrapped.net(batch, use_cache=True)[0]  # likely: PLM054
        loss.backward()
        optimizer.step()
        if not args.gradient_checkpointing:
            # trap: where nothing is checkpointed
            wrapped.net(batch, use_cache=True)[0].backward()


def generate(wrapped, batch):
    # trap: for what it writes
    return wrapped.net(batch, use_cache=True)
