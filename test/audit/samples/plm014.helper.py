import torch


def turned(x, angle, back):
    half = angle.shape[-1]
    sign = -1 if back else 1
    return sign * x[..., :half] * angle.cos()


def linear(x, weight, scale):
    return x @ weight.t() * scale


class Turn(torch.autograd.Function):
    @staticmethod
    def forward(x, angle, back):
        return turned(x, angle, back)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, angle, back = inputs
        ctx.angle = angle  # expect: PLM014
        # trap: whether it goes back is no tensor
        ctx.back = back

    @staticmethod
    def backward(ctx, grad):
        return turned(grad, ctx.angle, not ctx.back), None, None


class TurnHere(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, angle, back):
        ctx.angle = angle  # expect: PLM014
        ctx.back = back
        return turned(x, angle=angle, back=back)

    @staticmethod
    def backward(ctx, grad):
        return turned(grad, ctx.angle, not ctx.back), None, None


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(x, weight, scale):
        return linear(x, weight, scale)

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, weight, scale = inputs
        # trap: the layer keeps its weight anyway
        ctx.weight = weight
        # trap: a number, as far as the helper shows
        ctx.scale = scale

    @staticmethod
    def backward(ctx, grad):
        return grad @ ctx.weight * ctx.scale, None, None
