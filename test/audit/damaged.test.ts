import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { LeftOut, inTime } from "../../src/audit/engine.ts";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";

const SAMPLES = join(import.meta.dirname, "samples");
const names = readdirSync(SAMPLES).filter((name) => name.endsWith(".py"));

/** As files are while they are written: cut off, a line gone, a line left unfinished. */
type Damage = { readonly kind: "cut" | "gone" | "unfinished"; readonly at: number };

function damaged(text: string, { kind, at }: Damage): string {
  const lines = text.split("\n");
  const line = Math.floor(at * lines.length);
  if (kind === "cut") return text.slice(0, Math.floor(at * text.length));
  if (kind === "gone") return lines.toSpliced(line, 1).join("\n");
  return lines.with(line, lines[line]!.slice(0, Math.ceil(lines[line]!.length / 2))).join("\n");
}

test("a damaged file is read as far as it goes", () => {
  const damages = fc.array(
    fc.record({
      kind: fc.constantFrom("cut" as const, "gone" as const, "unfinished" as const),
      at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    }),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(
    fc.property(fc.constantFrom(...names), damages, (path, all) => {
      const text = all.reduce(damaged, readFileSync(join(SAMPLES, path), "utf8"));
      expect(() => auditTexts([{ path, text }], DEFAULTS)).not.toThrow();
    }),
    { numRuns: 400 },
  );
});

test.each([
  ["if", "if x:\n"],
  ["main", 'if __name__ == "__main__":\n'],
  ["else", "if x:\n    pass\nelse:\n"],
  ["for", "for x in y:\n"],
  ["while", "while x:\n"],
  ["with", "with x:\n"],
  ["try", "try:\n"],
  ["def", "def f(x):\n"],
  ["class", "class Net:\n"],
  ["case", "match x:\n    case 1:\n"],
])("a block without statements at the end: %s", (_, end) => {
  const begin =
    'import torch\n\nnet = torch.nn.Linear(4, 4).to("cuda")\nopt = torch.optim.SGD(net.parameters(), 0.1)\nlosses = []\n' +
    "for x in loader:\n    loss = net(x).mean()\n    loss.backward()\n    opt.step()\n    losses.append(loss)\n";
  const { findings, diagnostics } = auditTexts([{ path: "train.py", text: begin + end }], DEFAULTS);
  expect(diagnostics.map(({ message }) => message)).toEqual([
    expect.stringContaining("expected an indented block"),
  ]);
  expect(findings.map(({ rule }) => rule)).toContain("PLM002");
  // What does not parse is not mended, neither here nor in an editor.
  expect(findings.map(({ fix }) => fix)).toEqual(findings.map(() => null));
});

test("work on a large text is ended when it takes too long", () => {
  const forever = (): never => {
    for (;;);
  };
  const backtracking = (): boolean => /^(?:a|a)*$/.test("a".repeat(60) + "b");
  for (const work of [forever, backtracking])
    expect(() => inTime(1_000_000, work, 100)).toThrow(
      new LeftOut("left out: takes longer than 0.1 seconds"),
    );
  expect(inTime(1_000_000, () => "done", 1000)).toBe("done");
  expect(() => inTime(1_000_000, () => JSON.parse("{"), 1000)).toThrow(SyntaxError);
});

test("what calls itself too often is left out, whatever the size of its text", () => {
  const deeper = (): number => 1 + deeper();
  expect(() => inTime(1, deeper)).toThrow(new LeftOut("left out: nested too deeply"));
});

test.each([
  ["a sum", `x = ${"a + ".repeat(3000)}a`],
  ["calls", `x = a${".b()".repeat(3000)}`],
])("a chain that CPython refuses is told and not judged: %s", (_, line) => {
  const { diagnostics } = auditTexts([{ path: "a.py", text: `import torch\n${line}\n` }], DEFAULTS);
  expect(diagnostics).toMatchObject([{ line: 2, message: expect.stringContaining("nested too deeply") }]);
});

test("a chain of a thousand is read", () => {
  const text = `import torch\nx = ${"a + ".repeat(999)}a.b\n`;
  expect(auditTexts([{ path: "a.py", text }], DEFAULTS).diagnostics).toEqual([]);
});
