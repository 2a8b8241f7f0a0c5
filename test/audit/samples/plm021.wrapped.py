class WarmedUp:
    """Knows of no library: what it is around has the method."""

    def __init__(self, inner, width):
        self._inner = inner
        self.width = width

    def zero_grad(self):
        self._inner.zero_grad(set_to_none=False)  # expect: PLM021


class Plain:
    def __init__(self, inner):
        self._inner = inner

    def zero_grad(self):
        # trap: as it is by default
        self._inner.zero_grad()
