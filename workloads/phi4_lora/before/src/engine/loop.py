"""The training loop."""
import torch


def log_memory_usage(device, step=None):
    """Log current GPU memory usage"""
    if torch.cuda.is_available() and device.type == "cuda":
        allocated = torch.cuda.memory_allocated(device) / 1e9
        reserved = torch.cuda.memory_reserved(device) / 1e9
        max_allocated = torch.cuda.max_memory_allocated(device) / 1e9
        print(f"step {step}: allocated {allocated:.2f} GB, reserved {reserved:.2f} GB, max {max_allocated:.2f} GB")


def train(model, loader, optimizer, config, device, meter):
    model.train()
    log_memory_usage(device)
    batches = iter(loader)
    for step in range(config["steps"]):
        meter.begin()
        running = 0.0
        for _ in range(config["grad_accum"]):
            input_ids = next(batches)["input_ids"].to(device)
            loss = model(input_ids) / config["grad_accum"]
            loss.backward()
            running += loss
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        meter.end(running)
        if step % config["log_every_n"] == 0:
            log_memory_usage(device, step)
            print(f"step {step} loss {running.item():.6f}", flush=True)
