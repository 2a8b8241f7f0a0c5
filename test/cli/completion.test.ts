import { beforeAll, describe, expect, test } from "vitest";
import { loadCommands } from "../../src/cli/commands.ts";
import { plimsoll, runProgram } from "../support/cli.ts";

let script = "";
beforeAll(async () => {
  script = (await plimsoll(["completion", "bash"])).stdout;
});

/** What bash offers for a half-typed line, asked of bash itself. */
async function bashOffers(...words: readonly string[]): Promise<readonly string[]> {
  const ask = `${script}
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _plimsoll; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { code, stdout, stderr } = await runProgram("bash", ["-c", ask, "bash", "plimsoll", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").filter(Boolean);
}

describe("bash", () => {
  test("offers commands first", async () => {
    expect(await bashOffers("compl")).toEqual(["completion"]);
    const names = (await loadCommands()).map(({ name }) => name);
    expect(await bashOffers("")).toEqual(expect.arrayContaining(names));
  });

  test("offers a closed choice of arguments", async () => {
    expect(await bashOffers("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  test("offers every option of every command, and the choices of its values", async () => {
    for (const { name, options } of await loadCommands()) {
      const flags = Object.keys(options).map((option) => `--${option}`);
      expect(await bashOffers(name, "--")).toEqual(expect.arrayContaining([...flags, "--help"]));
      for (const [option, { choices }] of Object.entries(options)) {
        if (choices) expect(await bashOffers(name, `--${option}`, "")).toEqual(choices);
      }
    }
  });
});

test.each(["zsh", "fish"])("%s's script names every command and option", async (shell) => {
  const { code, stdout } = await plimsoll(["completion", shell]);
  expect(code).toBe(0);
  for (const { name, options } of await loadCommands()) {
    expect(stdout).toMatch(new RegExp(`\\b${name}\\b`));
    for (const option of Object.keys(options)) expect(stdout).toMatch(new RegExp(`(--|-l )${option}\\b`));
  }
});
