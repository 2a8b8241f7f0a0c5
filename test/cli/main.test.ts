import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { COMMANDS, loadCommands } from "../../src/cli/commands.ts";
import { parseCommandLine } from "../../src/cli/parse.ts";
import { CLI, plimsoll } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

describe("help and version", () => {
  test("--version prints the package's version alone", async () => {
    expect(await plimsoll(["--version"])).toEqual({
      code: 0,
      stdout: `${packageJson.version}\n`,
      stderr: "",
    });
  });

  test("--help names every command", async () => {
    const { code, stdout, stderr } = await plimsoll(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of Object.keys(COMMANDS)) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
  });

  test("without arguments the help goes to stderr and the exit code is 2", async () => {
    const { code, stdout, stderr } = await plimsoll([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("usage: plimsoll");
  });

  test.each(Object.keys(COMMANDS))("%s --help shows usage, each option and examples", async (name) => {
    const command = (await loadCommands()).find((command) => command.name === name);
    expect(command, `the file of ${name} calls itself something else`).toBeDefined();
    const { code, stdout } = await plimsoll([name, "--help"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`usage: plimsoll ${name}`);
    for (const option of Object.keys(command!.options)) expect(stdout).toContain(`--${option}`);
    expect(command!.examples.length).toBeGreaterThan(0);
    for (const { line } of command!.examples) expect(stdout).toContain(line);
    expect(await plimsoll(["help", name])).toEqual({ code: 0, stdout, stderr: "" });
  });
});

test.each(Object.keys(COMMANDS))("the examples of %s use what it has", async (name) => {
  const command = (await loadCommands()).find((command) => command.name === name)!;
  const lines = command.examples.map(({ line }) => line.replace(/ (?:>|\||&&) .*$/, ""));
  for (const line of lines.filter((line) => line.startsWith("plimsoll "))) {
    const words = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
    expect(words[1], line).toBe(name);
    expect(() => parseCommandLine(command, words.slice(2)), line).not.toThrow();
  }
});

describe("a user's mistake is one line on stderr and exit code 2", () => {
  test.each([
    [["complettion", "bash"], "unknown command complettion (did you mean completion?)"],
    [["frobnicate"], "unknown command frobnicate;"],
    [["--verzion"], "unknown option --verzion"],
    [["completion", "--halp"], "unknown option --halp (did you mean --help?)"],
    [["completion", "-z"], "unknown option -z"],
    [["completion", "--debug=yes"], '--debug takes no value, got "yes"'],
    [["completion", "fihs"], 'a shell cannot be "fihs" (did you mean fish?); one of: bash, zsh, fish'],
    [["completion"], "completion needs a shell"],
    [["completion", "bash", "extra"], 'unexpected argument "extra"'],
    [["completion", "constructor"], 'a shell cannot be "constructor"'],
    [["constructor"], "unknown command constructor"],
    [["completion", "--toString"], "unknown option --toString"],
  ])("plimsoll %j", async (words, message) => {
    const { code, stdout, stderr } = await plimsoll(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^plimsoll: [^\n]*\n$/);
    expect(stderr).toContain(message);
  });

  test("a command that fails ends at once, whatever it had begun", async () => {
    const { code, stderr } = await plimsoll(["run", "--", "no-such-program"], { cwd: emptyFolder() });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^plimsoll: no-such-program was not found[^\n]*\n$/);
  });

  test("--debug adds the stack", async () => {
    const { code, stderr } = await plimsoll(["completion", "ksh", "--debug"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/\n {4}at /);
  });
});

test("a reader that leaves early is no error", async () => {
  const child = spawn("sh", ["-c", `"$0" "$1" completion bash; echo "left $?" >&2`, process.execPath, CLI]);
  child.stdout.destroy();
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  await new Promise((resolve) => child.on("close", resolve));
  expect(stderr).toBe("left 0\n");
});
