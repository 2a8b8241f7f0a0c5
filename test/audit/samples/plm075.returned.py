import torch


class Keeper:
    def whole(self, net):
        parts = net.state_dict()
        gathered = {}
        for name, part in parts.items():
            gathered[name] = part.full_tensor()  # expect: PLM075
        return gathered

    def on_host(self, net):
        parts = net.state_dict()
        gathered = {}
        for name, part in parts.items():
            # trap: each is moved away as it comes
            gathered[name] = part.full_tensor().cpu()
        return gathered

    def for_engine(self, net):
        parts = net.state_dict()
        gathered = {}
        for name, part in parts.items():
            # trap: wanted on the device, by what it is handed to
            gathered[name] = part.full_tensor()
        return gathered

    def named(self, net, rank):
        parts = net.state_dict()
        gathered = {}
        for name, part in parts.items():
            full = part.full_tensor()  # expect: PLM075
            if rank == 0:
                gathered[name] = full
            else:
                del full
        return gathered

    def named_on_host(self, net):
        parts = net.state_dict()
        gathered = {}
        for name, part in parts.items():
            # trap: what is kept is the copy on the host
            full = part.full_tensor()
            gathered[name] = full.cpu()
        return gathered

    def save(self, net, path):
        states = self.whole(net)
        torch.save({"first": states, "second": self.on_host(net)}, path)
        torch.save({"first": self.named(net, 0), "second": self.named_on_host(net)}, path)

    def follow(self, engine, net):
        engine.load_weights(self.for_engine(net))
