import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PythonFile } from "../../src/python/file.ts";
import { readNotebook } from "../../src/python/notebook.ts";
import { STAND_IN, decode, decodeNarrow } from "../../src/python/source.ts";
import { functionOf } from "../../src/python/nodes.ts";
import { parse } from "../../src/python/statements.ts";
import type { Node } from "../../src/python/tree.ts";

describe("syntax from 3.8 to 3.14 parses without an error", () => {
  test.each([
    ["walrus", "if (n := len(a)) > 10:\n    pass\n"],
    ["positional-only", "def f(a, /, b, *, c=1, **kw): pass\n"],
    ["parenthesised with", "with (open(a) as f, open(b) as g):\n    pass\n"],
    ["with on a tuple call", "with (yield_context()):\n    pass\n"],
    [
      "match",
      "match command.split():\n    case ['go', direction] if direction:\n        pass\n    case Point(x=0, y=y):\n        pass\n    case _:\n        pass\n",
    ],
    ["match as a name", "match = re.match(a, b)\nmatch(x)\nprint(match)\nmatch.group(1)\nmatch[0] = 1\n"],
    ["except star", "try:\n    pass\nexcept* ValueError as group:\n    pass\n"],
    ["except without brackets (3.14)", "try:\n    pass\nexcept A, B:\n    pass\n"],
    [
      "type parameters and defaults",
      "def f[T: int = int, *Ts, **P](x: T) -> T: ...\nclass C[T]: ...\ntype Alias[T] = list[T]\n",
    ],
    ["type as a name", "type = 1\ntype(x)\nprint(type)\n"],
    ["nested quotes in f-strings (3.12)", `x = f"{d["key"]!r:>{width}} {f'{y}'}"\n`],
    ["debug f-string", 'f"{x = } {y=:.2f} {a == b} {a != b}"\n'],
    ["template string (3.14)", 't"hello {name}"\n'],
    ["star in subscript", "a[*b, 1:2, ::3, ...]\n"],
    ["decorator expression", "@a.b[0](1)\n@(lambda f: f)\ndef f(): pass\n"],
    [
      "async",
      "async def f():\n    async with a as b, c:\n        async for x in y:\n            await z\n    return [x async for x in y if await x]\n",
    ],
    ["lambda in comprehension condition", "[x for x in y if (lambda: x)() if x]\n"],
    ["conditional lambda", "f = lambda *a, k=1, **kw: a if k else kw\n"],
    ["backslash and semicolons", "a = 1; b = \\\n  2;\n"],
    ["tabs and form feeds", "if a:\n\tif b:\n\t\tpass\n\fx = 1\n"],
    ["no final newline", "if a:\n    pass"],
    ["carriage returns", "if a:\r\n    b = 1\r\nelse:\r    c = 2\r"],
    [
      "yield in odd places",
      "def f():\n    x = yield\n    y = yield x, 1\n    yield from (yield)\n    await_ = (yield)\n",
    ],
    ["numbers", "0xFF_FF 1_000 1e-5 .5j 0b1 0o7 1.\n".replaceAll(" ", "\n")],
    ["global and del", "global a, b\ndel a[0], (b, c)\nassert x, 'y'\nraise A from B\n"],
    ["starred assignment", "a, *b = c\nfor x, *y in z: pass\nreturn_ = *a, b\n"],
    ["byte and raw strings", "b'x' rb'\\d' R\"x\"".split(" ").join("\n") + "\n"],
  ])("%s", (_, text) => {
    expect(parse(text).errors).toEqual([]);
  });
});

test("as many branches as Python takes", () => {
  const text = `if a: pass\n${"elif (a): pass\n".repeat(999)}else: b\n`;
  const { errors, module } = parse(text);
  expect(errors).toEqual([]);
  expect(module.body).toMatchObject([
    { kind: "If", end: text.length - 1, orelse: [{ start: 11, kind: "If" }] },
  ]);
});

describe("a broken file keeps what is not broken", () => {
  test.each([
    ["an unclosed bracket", "def a():\n    x = foo(1, 2\n\ndef b():\n    pass\n"],
    ["a half-typed line", "def a():\n    x = \n    y = 1\n\ndef b():\n    pass\n"],
    ["a broken header", "def a(:\n    y = 1\n\ndef b():\n    pass\n"],
    ["an unterminated string", "def a():\n    x = 'oops\n\ndef b():\n    pass\n"],
    ["Python 2", "def a():\n    print 'x'\n\ndef b():\n    pass\n"],
    ["a stray else", "else:\n    pass\n\ndef b():\n    pass\n"],
  ])("%s", (_, text) => {
    const file = new PythonFile("a.py", text);
    expect(file.tree.errors.length).toBeGreaterThan(0);
    expect(file.all("FunctionDef").map((fn) => fn.name)).toContain("b");
  });

  test.each([
    ["brackets", "(".repeat(100_000)],
    ["closed brackets", `${"(".repeat(5000)}1${")".repeat(5000)}`],
    ["indentation", Array.from({ length: 500 }, (_, at) => `${" ".repeat(at)}if a:\n`).join("")],
    ["unary operators", `x = ${"-".repeat(20_000)}1`],
    ["a long sum", `x = ${"1 + ".repeat(50_000)}1`],
    ["a long chain", `x = a${".b()".repeat(50_000)}`],
    ["f-strings in f-strings", `x = ${'f"{'.repeat(300)}1${'}"'.repeat(300)}`],
    ["elif", `if a: pass\n${"elif a: pass\n".repeat(3000)}`],
  ])("deep %s do not overflow", (_, text) => {
    expect(() => new PythonFile("a.py", text).scopes).not.toThrow();
  });
});

test("encodings: byte order mark, cookie, latin-1, binary, UTF-16", () => {
  const bytes = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding);
  for (const cookie of ["-*-coding:utf-8-*-", "-*- coding: UTF_8 -*-", "vim: set fileencoding=utf-8-unix :"])
    expect(decode(bytes(`# ${cookie}\nx = "é"\n`))).toMatchObject({ encoding: "utf-8" });
  expect(decode(bytes("\uFEFFx = 'é'\n"))).toMatchObject({ text: "x = 'é'\n", bom: true });
  expect(decode(bytes("# -*- coding: latin-1 -*-\nx = 'é'\n", "latin1"))).toMatchObject({
    encoding: "latin1",
    text: "# -*- coding: latin-1 -*-\nx = 'é'\n",
  });
  expect(decode(bytes("x = 'é'\n", "latin1"))).toMatch(/not valid UTF-8/);
  expect(decode(Buffer.from([1, 0, 2]))).toBe("binary file");
  expect(decode(bytes("\uFEFFx", "utf16le"))).toMatch(/UTF-16/);
  expect(decode(bytes("# coding: shift-jis\n"))).toMatch(/shift-jis/);
});

test("a narrow text has the offsets of the exact one, and says where it stands in for it", () => {
  fc.assert(
    fc.property(fc.boolean(), fc.string({ unit: "binary" }), (bom, text) => {
      const bytes = Buffer.from((bom ? "\uFEFF" : "") + text);
      const exact = decode(Buffer.from(bytes));
      const narrow = decodeNarrow(bytes);
      if (typeof exact === "string") expect(narrow).toBe(exact);
      else
        expect(narrow).toEqual({
          text: exact.text.replace(/[^\0-\xff]/g, STAND_IN),
          exact: /^[\0-\xff]*$/.test(exact.text),
        });
    }),
  );
  expect(decodeNarrow(Buffer.from("x = 'é'\n", "latin1"))).toMatch(/not valid UTF-8/);
});

test("names resolve through imports, aliases, branches and shadowing", () => {
  const file = new PythonFile(
    "pkg/mod.py",
    [
      "import torch",
      "import torch.nn.functional as F",
      "from torch import nn as layers",
      "from .other import thing",
      "from torch.utils.checkpoint import checkpoint as ckpt",
      "torch.zeros(1)",
      "F.relu(x)",
      "layers.Linear(1, 1)",
      "thing(1)",
      "ckpt(f)",
      "print(1)",
      "def f(torch):",
      "    torch.ones(1)",
      "def g():",
      "    return torch.ones(2)",
      "g()",
    ].join("\n"),
  );
  expect(file.all("Call").map((call) => file.dotted(call.func))).toEqual([
    "torch.zeros",
    "torch.nn.functional.relu",
    "torch.nn.Linear",
    "pkg.other.thing",
    "torch.utils.checkpoint.checkpoint",
    "builtins.print",
    null,
    "torch.ones",
    "pkg.mod.g",
  ]);
});

test("definitions reach their uses through branches and loops", () => {
  const file = new PythonFile(
    "a.py",
    [
      "def f(c, xs):",
      "    a = 1",
      "    if c:",
      "        a = 2",
      "    else:",
      "        a = 3",
      "    use(a)", // 2, 3
      "    for x in xs:",
      "        use(a)",
      "        a = 4", // 2, 3, 4
      "    use(a)",
      "    if c:",
      "        a = 5",
      "        return a",
      "    use(a)",
    ].join("\n"),
  );
  const uses = file.all("Call").map((call) => {
    const [arg] = call.args;
    if (arg?.value.kind !== "Name") throw new Error("not a name");
    return file.scopes
      .reaching(arg.value)
      .map((definition) => file.textOf(definition.value!))
      .sort()
      .join(" ");
  });
  expect(uses).toEqual(["2 3", "2 3 4", "2 3 4", "2 3 4"]);
});

test("what a comprehension reads, it reads where it stands", () => {
  const file = new PythonFile(
    "m.py",
    [
      "def f(c, xs):",
      "    a = 1",
      "    if c:",
      "        a = 2",
      "        return [use(a) for x in xs]",
      "    a = 3",
      "    return [use(a) for x in xs]",
    ].join("\n"),
  );
  const uses = file.all("Call").map(({ args }) => {
    const [arg] = args;
    if (arg?.value.kind !== "Name") throw new Error("not a name");
    return file.scopes.reaching(arg.value).map(({ value }) => file.textOf(value!));
  });
  expect(uses).toEqual([["2"], ["3"]]);
});

test("a notebook becomes one text; magics are blanked in place", () => {
  const cells = [
    { cell_type: "markdown", source: "# title" },
    {
      cell_type: "code",
      source: ["%matplotlib inline\n", "import torch\n", "!pip install x\n", "x = torch.ones(1)"],
    },
    { cell_type: "code", source: "%%bash\nls -l\n" },
    { cell_type: "code", source: "for i in x:\n    !echo {i}\ny = x?" },
  ];
  const notebook = readNotebook(JSON.stringify({ cells }));
  if (typeof notebook === "string") throw new Error(notebook);
  expect(notebook.cells.map((cell) => [cell.number, cell.line])).toEqual([
    [2, 1],
    [3, 5],
    [4, 8],
  ]);
  expect(parse(notebook.text).errors).toEqual([]);
  expect(notebook.text).toContain("import torch\n");
  expect(notebook.text).not.toContain("pip");
  expect(readNotebook("{")).toMatch(/invalid JSON/);
});

test.each([
  ["a shell line that goes on", "!python train.py \\\n    --epochs 3 \\\n    --lr 1e-4\nx = 1", ["x = 1"]],
  ["a shell line of a block", "if x:\n    !ls \\\n      -l\ny = 1", ["if x:", "pass", "y = 1"]],
  ["formatting at the start of a line", 'print("%s"\n  % name)', ['print("%s"', "% name)"]],
  ["and after a backslash", 's = "%s" \\\n  % name', ['s = "%s" \\', "% name"]],
  ["text that looks like one", 's = """\n!ls\n%time\n"""', ['s = """', "!ls", "%time", '"""']],
  ["a bracket in a comment", "x = 1  # (\n%time\ny = 2", ["x = 1  # (", "y = 2"]],
  ["a bracket in a string", "x = '(\\'['\n!ls", ["x = '(\\'['"]],
])("of a cell's text, Python is kept and the rest is not: %s", (_, source, kept) => {
  const notebook = readNotebook(JSON.stringify({ cells: [{ cell_type: "code", source }] }));
  if (typeof notebook === "string") throw new Error(notebook);
  expect(parse(notebook.text).errors).toEqual([]);
  expect(notebook.text.length).toBe(source.length + 1);
  expect(
    notebook.text
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean),
  ).toEqual(kept);
});

test.each([
  ["an open bracket", "print(", "x = 1"],
  ["an open list, before a word that none goes on with", "x = [1,", "def f():\n    pass"],
  ["an open string", 's = """abc', "x = 1"],
  ["its end in the next cell", 's = """abc', 'def"""'],
  ["a decorator alone", "@foo", "def f():\n    pass"],
  ["try alone", "try:\n    pass", "x = 1"],
  ["a header alone", "for x in y:", "    pass"],
  ["a continued line", "x = 1 + \\", "y"],
  ["an else of its own", "if x:\n    pass", "else:\n    pass"],
  ["an f-string", "f'''{x", "}'''"],
])("nothing goes on from one cell of a notebook to the next: %s", (_, first, second) => {
  const sources = [first, second, "def known():\n    return 1"];
  const notebook = readNotebook(
    JSON.stringify({ cells: sources.map((source) => ({ cell_type: "code", source })) }),
  );
  if (typeof notebook === "string") throw new Error(notebook);
  const { errors, module } = parse(notebook.text, false, notebook.cells);
  const blamed = notebook.cells.findIndex(
    ({ start, end }) => start <= errors[0]!.offset && errors[0]!.offset <= end,
  );
  expect(blamed).toBe(first.startsWith("if") ? 1 : 0);
  expect(module.body.at(-1)).toMatchObject({ kind: "FunctionDef", name: "known" });
});

describe("an outline", () => {
  const SAMPLES = join(import.meta.dirname, "../audit/samples");
  const texts = readdirSync(SAMPLES)
    .filter((name) => name.endsWith(".py"))
    .map((name) => readFileSync(join(SAMPLES, name), "utf8"));
  /** What can be seen of a file without looking into its functions. */
  const seen = (text: string, outline: boolean): readonly string[] => {
    const file = new PythonFile("a.py", text, null, outline);
    const within = (node: Node): boolean => {
      const fn = functionOf(node);
      return fn?.kind === "FunctionDef" && fn.name !== "__init__";
    };
    return [...file.all("ClassDef"), ...file.all("FunctionDef"), ...file.all("Alias"), ...file.all("Assign")]
      .filter((node) => !within(node))
      .map((node) => `${node.kind} ${node.start} ${text.slice(node.start, node.start + 30)}`);
  };
  test("has the same classes, functions, imports and attributes as the whole file", () => {
    for (const text of texts) expect(seen(text, true)).toEqual(seen(text, false));
  });
  test("has nothing of what functions do", () => {
    const file = new PythonFile(
      "a.py",
      "def f(x):\n    if x:\n        return g(x)\n\ny = h(1)\n",
      null,
      true,
    );
    expect(file.all("Call").map((call) => file.textOf(call))).toEqual(["h(1)"]);
    expect(file.tree.errors).toEqual([]);
  });
  test("complains of a function without a body", () => {
    expect(parse("def f():\n\ndef g():\n    pass\n", true).errors).toHaveLength(1);
  });
});
