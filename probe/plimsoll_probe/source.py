"""The user's own source: what belongs to it, and the statements in it that keep or drop things."""
import ast
import linecache
import os
import sysconfig

_LIBRARY = tuple(
    os.path.normpath(path) + os.sep
    for path in {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    if path
)
_GROW = ("append", "appendleft", "add", "insert", "extend", "put", "put_nowait", "setdefault", "update", "register_hook",
         "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "add_param_group")
_SHRINK = ("clear", "pop", "popleft", "popitem", "remove", "get", "get_nowait")

_is_user = {}
_trees = {}


def is_user_file(filename):
    known = _is_user.get(filename)
    if known is None:
        full = os.path.abspath(filename)
        known = _is_user[filename] = (
            not filename.startswith("<")
            and "plimsoll_probe" not in filename
            and "site-packages" not in full
            and "dist-packages" not in full
            and not full.startswith(_LIBRARY)
        )
    return known


def text(filename, line):
    return linecache.getline(filename, line).strip()


def attribute_assignments(filename, attribute):
    """Lines that write `something.attribute = …`, unless it is a constant."""
    lines = []
    for node in _nodes(filename):
        if isinstance(getattr(node, "value", None), ast.Constant):
            continue
        for target in _targets(node):
            if isinstance(target, ast.Attribute) and target.attr == attribute:
                lines.append(node.lineno)
    return lines


def item_assignments(filename, key):
    """Lines that write `something["key"] = …` or `+=`."""
    lines = []
    for node in _nodes(filename):
        for target in _targets(node):
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant) and target.slice.value == key:
                lines.append(node.lineno)
    return lines


def builds_on_itself(filename, line, name):
    """Whether the statement assigns to a name what it makes from that name: `bank = cat([bank, new])`."""
    for node in _nodes(filename):
        if getattr(node, "lineno", None) == line and any(_last_name(target) == name for target in _targets(node)):
            return isinstance(node, ast.AugAssign) or any(_last_name(part) == name for part in ast.walk(node.value))
    return False


def growing_statements(filename, name):
    """Lines that add to a container of this name: append and its kin, item assignment, +=."""
    lines = []
    for node in _nodes(filename):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROW:
            if _last_name(node.func.value) == name:
                lines.append(node.lineno)
        for target in _targets(node):
            if isinstance(target, ast.Subscript) and _last_name(target.value) == name:
                lines.append(node.lineno)
            elif isinstance(node, ast.AugAssign) and _last_name(target) == name:
                lines.append(node.lineno)
    return lines


def bounded_by_length(filename, name):
    """Whether what is added to a container, or taken out, is decided by its length: `if len(buffer) < capacity: …`."""
    for node in _nodes(filename):
        if isinstance(node, (ast.If, ast.While)) and _compares_length(node.test, name):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                    if inner.func.attr in _GROW + _SHRINK and _last_name(inner.func.value) == name:
                        return True
                if isinstance(inner, ast.Delete) or (isinstance(inner, ast.Assign) and inner is not node):
                    targets = inner.targets
                    if any(_last_name(getattr(target, "value", target)) == name for target in targets):
                        return True
    return False


def is_memo(filename, name):
    """Whether a container is filled with what it does not have yet: `if key not in cache: cache[key] = …`."""
    for node in _nodes(filename):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            if _last_name(node.comparators[0]) == name:
                return True
    return False


def _compares_length(test, name):
    """`len(name)` against something other than nothing."""
    for node in ast.walk(test):
        if not isinstance(node, ast.Compare):
            continue
        sides = [node.left] + list(node.comparators)
        for side in sides:
            if isinstance(side, ast.Call) and _last_name(side.func) == "len" and len(side.args) == 1:
                others = [other for other in sides if other is not side]
                empty = all(isinstance(other, ast.Constant) and other.value == 0 for other in others)
                if _last_name(side.args[0]) == name and not empty:
                    return True
    return False


def emptying_statement(filename, name):
    """The first line inside a loop or a function that empties or renews a container of this name, or None."""
    for node in _nodes(filename):
        if not isinstance(node, (ast.For, ast.While, ast.FunctionDef, ast.AsyncFunctionDef, ast.AsyncFor)):
            continue
        in_loop = isinstance(node, (ast.For, ast.While, ast.AsyncFor))
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in _SHRINK:
                if _last_name(inner.func.value) == name:
                    return inner.lineno
            if isinstance(inner, ast.Delete):
                for target in inner.targets:
                    if isinstance(target, ast.Subscript) and _last_name(target.value) == name:
                        return inner.lineno
            if isinstance(inner, (ast.Assign, ast.AnnAssign)) and (in_loop or _is_method_reset(node, inner)):
                if any(_last_name(target) == name for target in _targets(inner)) and _renews(inner.value, name):
                    return inner.lineno
    return None


def _is_method_reset(function, assignment):
    return getattr(function, "name", "") != "__init__" and any(
        isinstance(target, ast.Attribute) for target in _targets(assignment)
    )


def _renews(value, name):
    """[] {} set() list() deque(…), or a slice of itself."""
    if isinstance(value, (ast.List, ast.Dict, ast.Set)):
        return True
    if isinstance(value, ast.Call):
        return _last_name(value.func) in ("list", "dict", "set", "deque", "defaultdict", "OrderedDict")
    return isinstance(value, ast.Subscript) and _last_name(value.value) == name


def _targets(node):
    if isinstance(node, ast.Assign):
        flat = []
        for target in node.targets:
            flat.extend(target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target])
        return flat
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        return [node.target]
    return []


def _last_name(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    return None


def _nodes(filename):
    tree = _trees.get(filename)
    if tree is None:
        try:
            tree = list(ast.walk(ast.parse("".join(linecache.getlines(filename)), filename)))
        except (SyntaxError, ValueError, RecursionError):
            tree = []
        _trees[filename] = tree
    return tree
