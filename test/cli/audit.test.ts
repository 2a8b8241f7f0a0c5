import { spawn } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { auditForEditing } from "../../src/audit/audit.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";
import type { Settings } from "../../src/audit/settings.ts";
import { Workspace } from "../../src/audit/workspace.ts";
import { CLI, plimsoll, runProgram } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

const LOOP = `import torch

def train(model, loader, optimizer):
    total = 0
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss
    return total
`;
const MENDED = LOOP.replace("total += loss", "total += loss.detach()");

function project(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = emptyFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

interface Json {
  readonly findings: { rule: string; severity: string; path: string; line: number; message: string }[];
  readonly diagnostics: { path: string; message: string; level: string }[];
}

async function findings(cwd: string, ...args: string[]): Promise<string[]> {
  const ran = await plimsoll(["audit", ".", "--json", "--select", "PLM001,PLM9", ...args], { cwd });
  return (JSON.parse(ran.stdout) as Json).findings.map(({ path, line, rule }) => `${path}:${line} ${rule}`);
}

test("a large tree is judged as a small one, whatever its characters", async () => {
  const files = {
    // A frame, a message and a mend with such characters; names of them; and none where anything is found.
    "quoted.py": LOOP.replace("total += loss", 'total += loss  # Σ "→"'),
    "names.py": LOOP.replaceAll("loss", "потеря"),
    "beside.py": `# 🚢 ${"—".repeat(50)}\n${LOOP}`,
    "strings.py": LOOP.replace("total = 0", 'total = {"損失": 0}').replace("total +=", 'total["損失"] +='),
    "broken.py": "x = “a”\n",
  };
  const judged = async (more: Readonly<Record<string, string>>): Promise<unknown> => {
    const ran = await plimsoll(["audit", ".", "--json"], { cwd: project({ ...files, ...more }) });
    const { findings: found, diagnostics } = JSON.parse(ran.stdout) as Json;
    return { found, diagnostics };
  };
  expect(await judged({ "filler.py": `import torch\n${"x = 1\n".repeat(600_000)}` })).toEqual(
    await judged({}),
  );
});

describe("what a user may silence", () => {
  test("noqa on the line, and one that silences nothing", async () => {
    const cwd = project({
      "a.py": LOOP.replace("total += loss", "total += loss  # noqa: PLM001"),
      "b.py": LOOP.replace("total = 0", "total = 0  # noqa: PLM001, E501"),
      "c.py": LOOP.replace("total += loss", "total += loss  # noqa"),
    });
    expect(await findings(cwd)).toEqual(["b.py:4 PLM900", "b.py:10 PLM001"]);
  });

  test("noqa: several on a line, behind what cannot have a comment, of rules that there are not, in settings", async () => {
    const silenced = (written: string): string => LOOP.replace("total += loss", () => written);
    const cwd = project({
      "a.py": silenced("total += loss  # noqa: E501  # noqa: PLM001"),
      "b.py": silenced("total = total + \\\n            loss; x = 1  # noqa: PLM001"),
      "c.py": silenced('total += loss; s = """\n"""  # noqa: PLM001'),
      "d.py": silenced('total += loss; s = """  # noqa: PLM001\n"""'),
      "e.py": "import torch  # noqa: PLM9999, PLM0, F401\n",
      "f.yaml": "optimizer: x\ndetect_anomaly: true  # noqa: PLM024\n",
      "g.yaml": "optimizer: x\ndetect_anomaly: true  # noqa: PLM021\n",
    });
    const found = await findings(cwd, "--select", "PLM024");
    expect(found).toEqual(["d.py:10 PLM001", "e.py:1 PLM900", "e.py:1 PLM900", "g.yaml:2 PLM024"]);
  });

  test("a baseline leaves out what was there, wherever it has moved, and shows what is new", async () => {
    const cwd = project({ "a.py": LOOP });
    const written = await plimsoll(["audit", ".", "--write-baseline", "old.json"], { cwd });
    expect(written).toMatchObject({ code: 0, stdout: "" });
    expect(await findings(cwd, "--baseline", "old.json")).toEqual([]);
    writeFileSync(join(cwd, "a.py"), `"""New first line."""\n${LOOP}${LOOP.replace("train", "again")}`);
    expect(await findings(cwd, "--baseline", "old.json")).toEqual(["a.py:22 PLM001"]);
    // Brought up to date in place it has all of them.
    const both = ["--baseline", "old.json", "--write-baseline", "old.json", "--select", "PLM001"];
    expect(await plimsoll(["audit", ".", ...both], { cwd })).toMatchObject({
      stderr: "2 findings recorded in old.json\n",
    });
    const wrong = await plimsoll(["audit", ".", "--baseline", "a.py"], { cwd });
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("a.py is not a baseline file") });
  });

  test("a baseline holds wherever it is used from, and what it leaves out is not mended", async () => {
    const cwd = project({ "src/a.py": LOOP, "src/b.py": LOOP });
    const select = ["--select", "PLM001"];
    await plimsoll(["audit", "src/a.py", "--write-baseline", "conf.json", ...select], { cwd });
    const inside = join(cwd, "src");
    expect(await findings(inside, "--baseline", "../conf.json")).toEqual(["b.py:10 PLM001"]);
    const ran = await plimsoll(["audit", ".", "--fix", "--baseline", "../conf.json", ...select], {
      cwd: inside,
    });
    expect(ran.stdout).toBe("fixed b.py: 1 fix\nNo findings in 2 files.\n");
    expect(readFileSync(join(cwd, "src/a.py"), "utf8")).toBe(LOOP);
    expect(readFileSync(join(cwd, "src/b.py"), "utf8")).toBe(MENDED);
  });

  test("pyproject.toml: ignore, exclude, per-file-ignores and severity; the command line on top", async () => {
    const cwd = project({
      "pyproject.toml": `[tool.plimsoll]
exclude = ["vendored"]
[tool.plimsoll.per-file-ignores]
"scripts/*" = ["PLM001"]
[tool.plimsoll.severity]
PLM00 = "error"
PLM = "note"
`,
      "a.py": LOOP,
      "scripts/b.py": LOOP,
      "vendored/c.py": LOOP,
    });
    const ran = await plimsoll(["audit", ".", "--json", "--select", "PLM001"], { cwd });
    expect((JSON.parse(ran.stdout) as Json).findings).toMatchObject([{ path: "a.py", severity: "error" }]);
    expect(await findings(cwd, "--ignore", "PLM001")).toEqual([]);
  });

  test("a file that says it is generated is judged where it is asked for, and read where somebody imports it", async () => {
    const header =
      "# Licence\n\n# This file was automatically generated from model.yaml.\n# Do NOT edit it.\n";
    const logs = LOOP.replace("total += loss", "total += log(loss)");
    const cwd = project({
      "made.py": `${header}from a import log\n${LOOP}${logs.replace("train", "again")}`,
      "a.py": "import torch\n\ndef log(loss: torch.Tensor):\n    return loss.item()\n",
      "spoken_of.py": `# The tables below are generated.\n${LOOP}`,
      "later.py": `${LOOP}${header}`,
    });
    const unmade = ["later.py:10 PLM001", "spoken_of.py:11 PLM001"];
    expect(await findings(cwd)).toEqual(unmade);
    expect(await findings(cwd, "--select", "PLM025")).not.toContain("a.py:4 PLM025");
    writeFileSync(join(cwd, "main.py"), "import torch\nimport made\nfrom later import train\nmade.again()\n");
    expect(await findings(cwd, "--select", "PLM025")).toContain("a.py:4 PLM025");
    expect(await findings(cwd, "made.py")).toContain("made.py:15 PLM001");
    const all = [unmade[0], "made.py:15 PLM001", unmade[1]];
    expect(await findings(cwd, "--generated")).toEqual(all);
    const said = await plimsoll(["audit", ".", "--select", "PLM001"], { cwd });
    expect(said.stdout).toMatch(
      /^0 errors, 2 warnings, 0 notes in 5 files \(1 generated, not judged: --generated\)/m,
    );
    // An editor that has it open goes by the same.
    const edited = async (settings: Settings): Promise<number> => {
      const workspace = new Workspace(await auditForEditing([cwd], cwd, settings), settings);
      return workspace.update("made.py", readFileSync(join(cwd, "made.py"), "utf8")).findings.length;
    };
    expect(await edited({ ...DEFAULTS, select: ["PLM001"] })).toBe(0);
    expect(await edited({ ...DEFAULTS, select: ["PLM001"], generated: true })).toBe(1);
    writeFileSync(join(cwd, "pyproject.toml"), "[tool.plimsoll]\ngenerated = true\n");
    expect(await findings(cwd)).toEqual(all);
  });

  test("a program that only converts weights is not judged, unless it is named", async () => {
    const once = `import torch
from transformers import AutoModel

def convert(path, out):
    model = AutoModel.from_pretrained(path).cuda()
    model.load_state_dict(torch.load(path + "/old.pt"))
    model.save_pretrained(out)

if __name__ == "__main__":
    convert("old", "new")
`;
    const cwd = project({
      "tools/convert_weights.py": once,
      // One that also trains, one that others may import, and one that is no program for this by its name.
      "tools/merge_and_tune.py": `${once}\n${LOOP}`,
      "tools/export.py": once.slice(0, once.indexOf("if __name__")),
      "start.py": once,
    });
    const at = async (...args: string[]): Promise<string[]> =>
      findings(cwd, "--select", "PLM001,PLM049", ...args);
    expect(await at()).toEqual([
      "start.py:6 PLM049",
      "tools/export.py:6 PLM049",
      "tools/merge_and_tune.py:6 PLM049",
      "tools/merge_and_tune.py:21 PLM001",
    ]);
    expect(await at("tools/convert_weights.py")).toContain("tools/convert_weights.py:6 PLM049");
    const workspace = new Workspace(await auditForEditing([cwd], cwd, DEFAULTS), DEFAULTS);
    expect(workspace.update("tools/convert_weights.py", once).findings).toEqual([]);
  });

  test("a setting that does not exist, and one of the wrong type, are named", async () => {
    const bad = async (table: string): Promise<string> => {
      const cwd = project({ "pyproject.toml": `[tool.plimsoll]\n${table}\n`, "a.py": LOOP });
      const ran = await plimsoll(["audit", "."], { cwd });
      expect(ran.code).toBe(2);
      return ran.stderr;
    };
    expect(await bad('selekt = ["PLM"]')).toContain('unknown setting "selekt"');
    expect(await bad('ignore = ["PLM777"]')).toContain('pyproject.toml: no rule starts with "PLM777"');
    expect(await bad('ignore = "PLM001"')).toContain("ignore must be a list of strings");
    const none = await plimsoll(["audit", "."], {
      cwd: project({ "pyproject.toml": "[tool]\nplimsoll = 3\n" }),
    });
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("must be a table") });
    expect(await bad('generated = "no"')).toContain("generated must be true or false");
  });
});

test("a function that another one makes is followed while it is edited", async () => {
  const step = (handed: string): string => `import torch

def make_step(model, optimizer):
    def step(batch):
        loss = model(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return ${handed}
    return step
`;
  const cwd = project({
    "steps.py": step("loss.item()"),
    "main.py": `import torch
import steps

def fit(model, loader, optimizer):
    take = steps.make_step(model.cuda(), optimizer)
    for batch in loader:
        print(take(batch.cuda()).item())
`,
  });
  const settings = { ...DEFAULTS, select: ["PLM025"], unproven: true };
  const workspace = new Workspace(await auditForEditing([cwd], cwd, settings), settings);
  const main = (): number =>
    workspace.update("main.py", readFileSync(join(cwd, "main.py"), "utf8")).findings.length;
  expect(main()).toBe(0);
  workspace.update("steps.py", step("loss"));
  expect(workspace.settle()).toContain("main.py");
  expect(main()).toBe(1);
});

describe("what comes out", () => {
  test("--statistics counts by rule; stdin has the name it is given", async () => {
    const cwd = project({ "a.py": LOOP, "b.py": LOOP });
    const counted = await plimsoll(["audit", ".", "--statistics", "--select", "PLM001"], { cwd });
    expect(counted.stdout).toBe("     2  PLM001  warning  summed-loss-keeps-graph\n");
    const behind = LOOP.replace(/(\s+)total \+= loss/, "$1if total > 1:$1    total += loss");
    const mixed = project({ "a.py": LOOP, "b.py": LOOP, "c.py": behind });
    expect(
      (await plimsoll(["audit", ".", "--statistics", "--select", "PLM001"], { cwd: mixed })).stdout,
    ).toBe(
      "     2  PLM001  warning  summed-loss-keeps-graph\n     1  PLM001  note     summed-loss-keeps-graph\n",
    );
    const piped = await plimsoll(["audit", "-", "--stdin-filename", "src/x.py", "--select", "PLM001"], {
      cwd,
      input: LOOP,
    });
    expect(piped.code).toBe(1);
    expect(piped.stdout).toContain("src/x.py:10:9: warning PLM001");
    expect(piped.stdout).toContain("^^^^^^^^^^^^^");
  });

  test("what is mended of standard input goes to standard output, and the report beside it", async () => {
    const cwd = project({ "a.py": LOOP });
    const stdin = async (input: string | Uint8Array, ...args: string[]): ReturnType<typeof plimsoll> =>
      plimsoll(["audit", "-", "--select", "PLM001", ...args], { cwd, input });
    const mended = await stdin(LOOP, "--fix");
    expect(mended).toMatchObject({ code: 0, stdout: MENDED });
    expect(mended.stderr).toBe("fixed stdin.py: 1 fix\nNo findings in 1 file.\n");
    expect(await stdin(MENDED, "--fix")).toMatchObject({ code: 0, stdout: MENDED });
    expect((await stdin("x = (\n", "--fix")).stdout).toBe("x = (\n");
    const shown = await stdin(LOOP, "--diff", "--stdin-filename", "src/x.py");
    expect(shown).toMatchObject({ code: 1, stderr: "" });
    expect(shown.stdout).toMatch(/^--- a\/src\/x\.py\n[^]*\n\+ {8}total \+= loss\.detach\(\)\n/);
    expect(await stdin(MENDED, "--diff")).toMatchObject({ code: 0, stdout: "" });
    expect(await stdin(LOOP, "a.py")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("other paths"),
    });
  });

  test("a diff of a Latin-1 file is in Latin-1", async () => {
    const text = `# coding: latin-1\n${LOOP.replace("total += loss", "total += loss  # é")}`;
    const cwd = project({ "a.py": Buffer.from(text, "latin1"), "b.py": `# é\n${LOOP}` });
    await runProgram(
      "bash",
      ["-c", '"$0" "$1" audit . --diff --select PLM001 > all.patch', process.execPath, CLI],
      { cwd },
    );
    const applied = await runProgram("git", ["apply", "all.patch"], { cwd });
    expect(applied.stderr).toBe("");
    expect(readFileSync(join(cwd, "a.py"), "latin1")).toBe(text.replace("+= loss", "+= loss.detach()"));
  });

  test("a name cannot speak to the terminal", async () => {
    const cwd = project({ "a\u001b[31m\n.py": LOOP });
    const { stdout } = await plimsoll(["audit", ".", "--select", "PLM001"], { cwd });
    expect(stdout).toContain("a\\x1b[31m\\x0a.py:10:9: warning");
    expect(stdout).not.toContain("\u001b");
  });

  test("rules --json has what documentation and CI ask for; explain shows the page", async () => {
    const listed = JSON.parse((await plimsoll(["rules", "--json"])).stdout) as Record<string, unknown>[];
    for (const rule of listed)
      expect(rule).toMatchObject({
        code: expect.stringMatching(/^PLM\d{3}$/),
        name: expect.stringMatching(/^[a-z0-9-]+$/),
        severity: expect.stringMatching(/^(?:error|warning|note)$/),
        fix: expect.stringMatching(/^(?:safe|unsafe|none)$/),
        docs: expect.stringMatching(/^docs\/rules\/PLM\d{3}\.md$/),
        patterns: expect.any(Array),
      });
    for (const rule of listed) expect(existsSync(rule["docs"] as string)).toBe(true);
    expect((await plimsoll(["explain", "plm001"])).stdout).toContain("# PLM001 summed-loss-keeps-graph");
    expect((await plimsoll(["explain", "listed-loss-keeps-graph"])).stdout).toContain("PLM002");
    expect(await plimsoll(["explain", "PLM00X"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("bad input", () => {
  test("each bad file is named, and the good one is audited", async () => {
    const cwd = project({
      "good.py": LOOP,
      "binary.py": new Uint8Array([0x69, 0, 1, 2, 3]),
      "encoding.py": new Uint8Array([0x23, 0x20, 0xe9, 0x0a]),
      "utf16.py": new Uint8Array([0xff, 0xfe, 0x69, 0x00]),
      "deep.py": `import torch\nx = ${"(".repeat(100_000)}1${")".repeat(100_000)}\n`,
      "half.py": `${LOOP}\ndef broken(:\n    pass\n`,
      "half.ipynb": JSON.stringify({
        cells: ["import torch", "x = 1\ndef broken(:"].map((source) => ({ cell_type: "code", source })),
      }),
      "huge.py": "",
      "empty.py": "",
    });
    truncateSync(join(cwd, "huge.py"), 50_000_000);
    // Nothing to do with training, and broken.
    writeFileSync(join(cwd, "other.py"), "def broken(:\n");
    symlinkSync("nowhere.py", join(cwd, "dangling.py"));
    symlinkSync(".", join(cwd, "loop"));
    symlinkSync("self.py", join(cwd, "self.py"));
    await runProgram("mkfifo", ["pipe.py"], { cwd });
    const ran = await plimsoll(["audit", ".", "missing", "pipe.py", "--json", "--select", "PLM001"], { cwd });
    const { findings: found, diagnostics } = JSON.parse(ran.stdout) as Json;
    expect(ran.code).toBe(1);
    expect(found.map(({ path }) => path)).toEqual(["good.py", "half.py"]);
    expect(Object.fromEntries(diagnostics.map(({ path, message }) => [path, message]))).toEqual({
      "binary.py": "binary file",
      "dangling.py": "no such file or folder",
      "deep.py": expect.stringContaining("nested too deeply"),
      "encoding.py": "not valid UTF-8, and no encoding declared",
      "half.ipynb": expect.stringMatching(/^cell 2, line 2: invalid syntax/),
      "half.py": expect.stringContaining("invalid syntax"),
      "huge.py": "too large to audit (50 MB)",
      missing: "no such file or folder",
      "other.py": expect.stringContaining("invalid syntax"),
      "pipe.py": expect.stringContaining("a pipe, not a file"),
      "self.py": "a symbolic link that leads back to itself",
      "utf16.py": "UTF-16 is not a Python source encoding",
    });
  });

  test("exit 2 only when nothing could be done", async () => {
    const broken = "import torch\ndef f(:\n    pass\n";
    const cwd = project({
      "good.py": "import torch\n",
      "bad.py": new Uint8Array([0, 0]),
      "broken.py": broken,
    });
    const code = async (...paths: string[]): Promise<number | null> =>
      (await plimsoll(["audit", ...paths], { cwd })).code;
    expect(await code("missing")).toBe(2);
    expect(await code("bad.py")).toBe(2);
    expect(await code("bad.py", "missing")).toBe(2);
    expect(await code("broken.py")).toBe(2);
    expect(await code("good.py", "broken.py")).toBe(0);
    expect(await code("good.py", "bad.py", "missing")).toBe(0);
  });
});

describe("mending", () => {
  test("--diff shows and changes nothing; --fix changes that and nothing else; twice changes nothing", async () => {
    const crlf = `\uFEFF${LOOP.replaceAll("\n", "\r\n")}`;
    const cwd = project({ "a.py": crlf });
    const fix = ["audit", "a.py", "--select", "PLM001"];
    const shown = await plimsoll([...fix, "--diff"], { cwd });
    expect(shown.code).toBe(1);
    expect(shown.stdout).toContain("+        total += loss.detach()");
    expect(readFileSync(join(cwd, "a.py"), "utf8")).toBe(crlf);
    expect((await plimsoll([...fix, "--fix"], { cwd })).code).toBe(0);
    expect(readFileSync(join(cwd, "a.py"), "utf8")).toBe(`\uFEFF${MENDED.replaceAll("\n", "\r\n")}`);
    expect((await plimsoll([...fix, "--diff"], { cwd })).code).toBe(0);
  });

  test("in a notebook only what is mended changes, in neighbouring cells and below a magic", async () => {
    const source = (text: string): string[] => text.split(/(?<=\n)/);
    const cells = ["import torch\n\nloader = optimizer = model = f()", `%%time\n${LOOP}`, LOOP];
    const written = JSON.stringify(
      { cells: cells.map((text) => ({ cell_type: "code", source: source(text) })), x: "1.0" },
      null,
      1,
    )
      .replace('"1.0"', "1.0")
      .replaceAll("\n", "\r\n");
    const cwd = project({ "a.ipynb": written });
    await plimsoll(["audit", ".", "--fix", "--select", "PLM001"], { cwd });
    expect(readFileSync(join(cwd, "a.ipynb"), "utf8")).toBe(
      written.replaceAll("total += loss", "total += loss.detach()"),
    );
  });

  test("a link stays one, and what it leads to is audited and mended once", async () => {
    const cwd = project({ "src/a.py": LOOP, "other/b.py": LOOP });
    symlinkSync("src/a.py", join(cwd, "a_link.py"));
    symlinkSync("src", join(cwd, "a_folder"));
    symlinkSync("b.py", join(cwd, "other/a_b.py"));
    expect(await findings(cwd)).toEqual(["other/b.py:10 PLM001", "src/a.py:10 PLM001"]);
    const fix = ["--fix", "--select", "PLM001"];
    const ran = await plimsoll(["audit", "a_link.py", "other", "other/a_b.py", ...fix], { cwd });
    expect(ran.stdout.match(/^fixed .*/gm)).toEqual(["fixed other/b.py: 1 fix", "fixed a_link.py: 1 fix"]);
    for (const at of ["src/a.py", "other/b.py"]) expect(readFileSync(join(cwd, at), "utf8")).toBe(MENDED);
    for (const at of ["a_link.py", "other/a_b.py"])
      expect(lstatSync(join(cwd, at)).isSymbolicLink()).toBe(true);
  });

  test("what a mend in one file shows in another is mended with it", async () => {
    const cwd = project({
      "data.py": `from torch.utils.data import DataLoader


def make_loader(data):
    return DataLoader(data, batch_size=8, shuffle=True, num_workers=4)
`,
      "train.py": `import torch

from data import make_loader


def train(model, data, optimizer, device=torch.device("cuda")):
    for x in make_loader(data):
        x = x.to(device)
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
`,
    });
    const fix = ["audit", ".", "--select", "PLM037,PLM038", "--fix", "--unsafe-fixes"];
    const ran = await plimsoll(fix, { cwd });
    expect(ran.stderr + ran.stdout).toMatch(/fixed data\.py: 1 fix\n[^]*fixed train\.py: 1 fix\n/);
    const [data, train] = ["data.py", "train.py"].map((name) => readFileSync(join(cwd, name), "utf8"));
    expect(data).toContain("num_workers=4, pin_memory=True)");
    expect(train).toContain("x.to(device, non_blocking=True)");
    expect((await plimsoll(fix, { cwd })).stdout).not.toContain("fixed");
    expect(readFileSync(join(cwd, "train.py"), "utf8")).toBe(train);
  });

  test("a full disk leaves the file as it was", async () => {
    const cwd = project({ "a.py": LOOP });
    // No file may grow beyond nothing: every write fails as on a full disk.
    const ran = await runProgram(
      "bash",
      [
        "-c",
        `trap '' XFSZ; ulimit -f 0; exec "$0" "$@"`,
        process.execPath,
        CLI,
        "audit",
        "a.py",
        "--fix",
        "--select",
        "PLM001",
      ],
      { cwd },
    );
    expect(ran.code).toBe(1);
    expect(ran.stdout).toMatch(/warning: a\.py: .+/);
    expect(readFileSync(join(cwd, "a.py"), "utf8")).toBe(LOOP);
    expect(readdirSync(cwd)).toEqual(["a.py"]);
  });
});

test("--watch audits a changed file again, and the file that it concerns", async () => {
  const step = `import torch

def step(model, x):
    torch.cuda.empty_cache()
    return model(x)
`;
  const loop = `from step import step

def train(model, loader, optimizer):
    for x in loader:
        step(model, x.cuda()).backward()
        optimizer.step()
`;
  const cwd = project({ "train.py": "from step import step\n# torch\n", "step.py": step });
  const child = spawn(process.execPath, [CLI, "audit", ".", "--watch", "--select", "PLM031"], { cwd });
  onTestFinished(() => void child.kill());
  let seen = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (seen += text));
  const said = async (stream: NodeJS.ReadableStream, what: RegExp): Promise<void> => {
    let text = "";
    for await (const part of stream) {
      text += String(part);
      if (what.test(text)) return;
    }
  };
  await said(child.stderr, /watching/);
  expect(seen).toContain("No findings in 2 files");
  const settled = new Promise<void>((done) => {
    child.stdout.on("data", () => {
      if (/step\.py:4:\d+: \w+ PLM031/.test(seen)) done();
    });
  });
  writeFileSync(join(cwd, "train.py"), loop);
  await settled;
  expect(seen).toMatch(/train\.py in \d+ ms/);
  const ended = new Promise((done) => child.on("exit", done));
  child.kill("SIGINT");
  expect(await ended).toBe(0);
});
