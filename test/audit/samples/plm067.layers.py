from torch import nn


class Changed(nn.TransformerEncoderLayer):
    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        x, _ = self.self_attn(x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask)  # expect: PLM067
        return self.dropout1(x)


class Said(nn.TransformerEncoderLayer):
    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        # trap: asked for none
        x, _ = self.self_attn(x, x, x, attn_mask=attn_mask, need_weights=False)
        return self.dropout1(x)


class Shown(nn.TransformerEncoderLayer):
    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        # trap: somebody looks at them
        x, self.weights = self.self_attn(x, x, x, attn_mask=attn_mask)
        return self.dropout1(x)


class Own(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.self_attn = attention

    def forward(self, x):
        # trap: nobody knows what it is
        return self.self_attn(x, x, x)[0]


class Given(nn.Module):
    def __init__(self, attention: nn.MultiheadAttention):
        super().__init__()
        self.attention = attention

    def forward(self, x):
        return self.attention(x, x, x)[0]  # expect: PLM067
