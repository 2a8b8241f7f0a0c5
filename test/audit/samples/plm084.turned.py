def row(crew, part, parts, feed):
    crew.require_backward_grad_sync = part % parts == 0  # expect: PLM084
    gap = crew(next(feed)).mean() / parts
    gap.backward()


def race(crew, optimizer, parts, feed, strokes):
    for stroke in range(strokes):
        for part in range(parts):
            row(crew, part, parts, feed)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def paddle(crew, stroke, parts, feed):
    crew.require_backward_grad_sync = (stroke + 1) % parts == 0  # expect: PLM084
    gap = crew(next(feed)).mean() / parts
    gap.backward()


def regatta(crew, optimizer, parts, feed, strokes):
    for stroke in range(strokes):
        for part in range(parts):
            paddle(crew, stroke, parts, feed)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


# In the last of the parts.
def scull(crew, turn, parts, feed):
    crew.require_backward_grad_sync = (turn + 1) % parts == 0
    gap = crew(next(feed)).mean() / parts
    gap.backward()


def outing(crew, optimizer, parts, feed, strokes):
    for stroke in range(strokes):
        for part in range(parts):
            scull(crew, part, parts, feed)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


# Counted down: the last part is the zeroth.
def punt(crew, left, parts, feed):
    left = parts - left - 1
    crew.require_backward_grad_sync = left % parts == 0
    gap = crew(next(feed)).mean() / parts
    gap.backward()


def trip(crew, optimizer, parts, feed, strokes):
    for stroke in range(strokes):
        for part in range(parts):
            punt(crew, part, parts, feed)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
