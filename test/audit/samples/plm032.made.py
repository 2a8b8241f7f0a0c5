import torch


def make_update(settings):
    def update(optimizer, scaler, parameters):
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(parameters, settings.longest)
        before = scaler.get_scale()  # expect: PLM032
        scaler.step(optimizer)
        scaler.update()
        return scaler.get_scale() < before  # expect: PLM032

    def report(scaler):
        # trap: no step is taken here
        return {"scale": scaler.get_scale()}

    settings.report = report
    return update


def save(scaler, optimizer, path):
    # trap: once, for what is saved
    torch.save({"scale": scaler.get_scale(), "optimizer": optimizer.state_dict()}, path)
