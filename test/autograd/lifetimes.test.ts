import { expect, test } from "vitest";
import { linear } from "../../src/autograd/matmul.ts";
import { add, mul, scale } from "../../src/autograd/pointwise.ts";
import { events, held, newTorch } from "./events.ts";

const KB = [256];

test("a temporary dies when the operation that consumes it returns", () => {
  const torch = newTorch();
  const x = held(torch, KB);
  expect(
    events(torch, () =>
      torch.frame(() => {
        torch.let(scale(torch, scale(torch, x)));
      }),
    ),
  ).toEqual(["A0:1024", "A1:1024", "F0", "F1"]);
});

test("a variable dies with its frame, or when it is bound again after the new value exists", () => {
  const torch = newTorch();
  const x = held(torch, KB);
  expect(
    events(torch, () =>
      torch.frame(() => {
        let y = torch.let(scale(torch, x));
        y = torch.set(y, scale(torch, y));
        torch.let(scale(torch, y));
      }),
    ),
  ).toEqual(["A0:1024", "A1:1024", "F0", "A2:1024", "F1", "F2"]);
});

test("a result outlives the frame that made it, and its other locals do not", () => {
  const torch = newTorch();
  const x = held(torch, KB);
  expect(
    events(torch, () =>
      torch.frame(() => {
        const y = torch.let(
          torch.frame(() => {
            const inner = torch.let(scale(torch, x));
            return scale(torch, inner);
          }),
        );
        torch.drop(y);
      }),
    ),
  ).toEqual(["A0:1024", "A1:1024", "F0", "F1"]);
});

test("a module's arguments live until it returns, though nothing in it uses them again", () => {
  const torch = newTorch();
  const x = held(torch, KB);
  const call = (asModule: boolean): string[] =>
    events(torch, () =>
      torch.frame(() => {
        const body = (t: typeof x) => {
          const y = torch.let(scale(torch, t));
          return scale(torch, y);
        };
        const argument = scale(torch, x);
        torch.let(
          asModule
            ? torch.module("layer", [argument], () => body(argument))
            : torch.frame(() => body(argument)),
        );
      }),
    );
  expect(call(true)).toEqual(["A0:1024", "A1:1024", "A2:1024", "F1", "F0", "F2"]);
  expect(call(false)).toEqual(["A0:1024", "A1:1024", "F0", "A2:1024", "F1", "F2"]);
});

test("a module may return its own argument", () => {
  const torch = newTorch();
  const x = held(torch, KB);
  expect(
    events(torch, () =>
      torch.frame(() => {
        const same = torch.let(torch.module("identity", [scale(torch, x)], () => torch.empty([0], "fp32")));
        torch.drop(same);
        const y = scale(torch, x);
        torch.let(torch.module("identity", [y], () => y));
      }),
    ),
  ).toEqual(["A0:1024", "F0", "A1:1024", "F1"]);
});

test("what backward needs is kept by the graph, and freed with the last tensor that leads to it", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  const y = held(torch, KB, "fp32", true);
  expect(
    events(torch, () =>
      torch.frame(() => {
        // mul keeps both factors, add keeps nothing.
        const product = torch.let(mul(torch, scale(torch, x), scale(torch, y)));
        const sum = torch.let(add(torch, product, x));
        torch.drop(product);
        torch.drop(sum);
      }),
    ),
  ).toEqual(["A0:1024", "A1:1024", "A2:1024", "A3:1024", "F2", "F3", "F0", "F1"]);
});

test("without gradients nothing is kept", () => {
  const torch = newTorch();
  const x = held(torch, KB, "fp32", true);
  expect(
    events(torch, () =>
      torch.noGrad(() =>
        torch.frame(() => {
          torch.let(mul(torch, scale(torch, x), scale(torch, x)));
        }),
      ),
    ),
  ).toEqual(["A0:1024", "A1:1024", "A2:1024", "F0", "F1", "F2"]);
});

test("a name bound to a tensor that is not its frame's cannot be dropped", () => {
  const torch = newTorch();
  const x = held(torch, KB);
  expect(() => torch.frame(() => torch.drop(x))).toThrow("not a local");
});

test("autocast converts a weight once a block and an activation each time", () => {
  const torch = newTorch();
  const w = held(torch, [16, 16], "fp32", true);
  const x = held(torch, [16, 16]);
  torch.useCublas();
  const run = events(torch, () =>
    torch.autocasting("bf16", () =>
      torch.frame(() => {
        for (let i = 0; i < 2; i++) torch.noGrad(() => torch.consume(linear(torch, x, w, null)));
      }),
    ),
  );
  // Weight (kept to the end), input, result; then input and result again.
  expect(run).toEqual(["A0:512", "A1:512", "A2:512", "F1", "F2", "A3:512", "A4:512", "F3", "F4", "F0"]);
});
