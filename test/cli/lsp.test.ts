import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import {
  CodeActionRequest,
  createProtocolConnection,
  DidChangeNotebookDocumentNotification,
  DidChangeTextDocumentNotification,
  DidOpenNotebookDocumentNotification,
  DidOpenTextDocumentNotification,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver/node";
import type { CodeAction, Diagnostic, ProtocolConnection } from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import { CLI, runProgram } from "../support/cli.ts";
import { emptyFolder } from "../support/folder.ts";

const TRAIN = `import torch
from step import step

def train(model, loader, optimizer):
    total = 0
    for x, y in loader:
        loss = step(model, x.cuda(), y.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        total += loss
    return total
`;
/** Called in the training loop of the other file: only together do they show what it costs. */
const STEP = `import torch

def step(model, x, y):
    torch.cuda.empty_cache()
    return torch.nn.functional.cross_entropy(model(x), y)
`;

interface Client {
  readonly connection: ProtocolConnection;
  readonly uri: (name: string) => string;
  /** The next diagnostics of a file for which the test holds. */
  readonly diagnostics: (
    name: string,
    holds: (codes: string[], all: readonly Diagnostic[]) => boolean,
  ) => Promise<readonly Diagnostic[]>;
}

async function start(files: Readonly<Record<string, string>>): Promise<Client> {
  const folder = emptyFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const server = spawn(process.execPath, [CLI, "lsp", "--stdio"], { cwd: folder });
  onTestFinished(() => void server.kill());
  const connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const latest = new Map<string, readonly Diagnostic[]>();
  const waiting = new Set<() => void>();
  connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
    latest.set(uri, diagnostics);
    for (const look of waiting) look();
  });
  connection.listen();
  const root = pathToFileURL(folder).href;
  await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: root,
    capabilities: {},
    workspaceFolders: [{ uri: root, name: "project" }],
  });
  await connection.sendNotification(InitializedNotification.type, {});
  const uri = (name: string): string => pathToFileURL(join(folder, name)).href;
  return {
    connection,
    uri,
    diagnostics: (name, holds) =>
      new Promise((done) => {
        const look = (): void => {
          const now = latest.get(uri(name));
          if (
            !now ||
            !holds(
              now.map(({ code }) => String(code)),
              now,
            )
          )
            return;
          waiting.delete(look);
          done(now);
        };
        waiting.add(look);
        look();
      }),
  };
}

const open = (client: Client, name: string, text: string): Promise<void> =>
  client.connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri: client.uri(name), languageId: "python", version: 1, text },
  });

test("an editor gets diagnostics, hovers, quick fixes and fix-all", async () => {
  const client = await start({ "train.py": TRAIN, "step.py": STEP });
  await open(client, "train.py", TRAIN);
  await open(client, "step.py", STEP);
  const found = await client.diagnostics("train.py", (codes) => codes.includes("PLM001"));
  // Known to run every step because another file's loop calls it.
  await client.diagnostics("step.py", (codes) => codes.includes("PLM031"));
  const sum = found.find(({ code }) => code === "PLM001")!;
  expect(sum).toMatchObject({ source: "plimsoll", range: { start: { line: 10, character: 8 } } });

  const textDocument = { uri: client.uri("train.py") };
  const hover = await client.connection.sendRequest(HoverRequest.type, {
    textDocument,
    position: sum.range.start,
  });
  expect(hover?.contents).toMatchObject({ kind: "markdown", value: expect.stringContaining("PLM001") });
  expect(
    await client.connection.sendRequest(HoverRequest.type, {
      textDocument,
      position: { line: 0, character: 0 },
    }),
  ).toBeNull();

  const actions = (await client.connection.sendRequest(CodeActionRequest.type, {
    textDocument,
    range: sum.range,
    context: { diagnostics: [sum] },
  })) as CodeAction[];
  const document = TextDocument.create(textDocument.uri, "python", 1, TRAIN);
  const applied = (action: CodeAction): string =>
    TextDocument.applyEdits(document, action.edit!.changes![textDocument.uri]!);
  const fix = actions.find(({ isPreferred }) => isPreferred)!;
  expect(applied(fix)).toBe(TRAIN.replace("total += loss", "total += loss.detach()"));
  expect(applied(actions.find(({ title }) => title.startsWith("Silence"))!)).toContain(
    "loss  # noqa: PLM001",
  );
  const [all] = (await client.connection.sendRequest(CodeActionRequest.type, {
    textDocument,
    range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
    context: { diagnostics: [], only: ["source.fixAll"] },
  })) as CodeAction[];
  expect(all!.kind).toBe("source.fixAll.plimsoll");
  expect(applied(all!)).toBe(TRAIN.replace("total += loss", "total += loss.detach()"));
  // Where nothing changes, the cursor and the folds of the editor stay.
  expect(all!.edit!.changes![textDocument.uri]).toMatchObject([
    { range: { start: { line: 10 }, end: { line: 11 } } },
  ]);
  await client.connection.sendRequest(ShutdownRequest.type);
});

test("a document that is too long is told of, and the server goes when its editor has gone, however busy it is", async () => {
  const client = await start({});
  await open(client, "long.py", `x = 1\n`.repeat(100_000));
  const [told] = await client.diagnostics("long.py", (_, all) => all.length > 0);
  expect(told!.message).toContain("too long to be audited while it is edited (600 kB)");
  const folder = emptyFolder();
  // An editor that has a long file judged and ends in the middle of it.
  const text = TRAIN.slice(TRAIN.indexOf("def")).repeat(1500);
  const messages = [
    { id: 1, method: "initialize", params: { processId: 0, rootUri: null, capabilities: {} } },
    { method: "initialized", params: {} },
    {
      method: "textDocument/didOpen",
      params: { textDocument: { uri: "file:///a.py", languageId: "python", version: 1, text } },
    },
  ];
  const editor = `
    const { spawn } = require("node:child_process");
    const server = spawn(process.execPath, [${JSON.stringify(CLI)}, "lsp"], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    const messages = ${JSON.stringify(messages)};
    messages[0].params.processId = process.pid;
    for (const message of messages) {
      const body = JSON.stringify({ jsonrpc: "2.0", ...message });
      server.stdin.write("Content-Length: " + Buffer.byteLength(body) + "\\r\\n\\r\\n" + body);
    }
    console.log(server.pid);
    setTimeout(() => process.exit(), 4000);
  `;
  writeFileSync(join(folder, "editor.cjs"), editor);
  const { stdout } = await runProgram(process.execPath, ["editor.cjs"], { cwd: folder });
  const isThere = (): boolean => {
    try {
      process.kill(Number(stdout), 0);
      return true;
    } catch {
      return false;
    }
  };
  onTestFinished(() => void (isThere() && process.kill(Number(stdout), "SIGKILL")));
  for (let waited = 0; isThere() && waited < 10_000; waited += 100)
    await new Promise((done) => setTimeout(done, 100));
  expect(isThere()).toBe(false);
});

test("while a line is half typed, what stands around it is still known", async () => {
  const client = await start({ "train.py": TRAIN });
  await open(client, "train.py", TRAIN);
  await client.diagnostics("train.py", (codes) => codes.includes("PLM001"));
  const end = { line: 3, character: "def train(model, loader, optimizer):".length };
  const type = (version: number, text: string): Promise<void> =>
    client.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri: client.uri("train.py"), version },
      contentChanges: [{ range: { start: end, end }, text }],
    });
  await type(2, "\n    print((");
  const broken = await client.diagnostics("train.py", (_, all) => all.some(({ code }) => code === undefined));
  expect(broken.find(({ code }) => code === "PLM001")!.range.start.line).toBe(11);
});

test("a silenced finding goes away as soon as the comment is typed", async () => {
  const client = await start({ "train.py": TRAIN });
  await open(client, "train.py", TRAIN);
  await client.diagnostics("train.py", (codes) => codes.includes("PLM001"));
  const at = { line: 10, character: "        total += loss".length };
  await client.connection.sendNotification(DidChangeTextDocumentNotification.type, {
    textDocument: { uri: client.uri("train.py"), version: 2 },
    contentChanges: [{ range: { start: at, end: at }, text: "  # noqa: PLM001" }],
  });
  await client.diagnostics("train.py", (codes) => !codes.includes("PLM001") && !codes.includes("PLM900"));
});

test("a finding is silenced where a comment can stand, beside what another one silences", async () => {
  const client = await start({ "train.py": TRAIN });
  const shapes = {
    continued: ["total = total + \\\n            loss", "loss  # noqa: PLM001"],
    "in a string": ['print(f"""\n{loss.item()}\n""")', '""")  # noqa: PLM025'],
    "before a string": ['total += loss; s = """\n"""', '"""  # noqa: PLM001'],
    commented: ["total += loss  # why", "# why  # noqa: PLM001"],
    silent: ["total += loss  # noqa: E501, W1 # too long", "# noqa: E501, W1, PLM001 # too long"],
  };
  for (const [name, [written, silenced]] of Object.entries(shapes)) {
    const text = TRAIN.replace("total += loss", () => written!);
    const code = /PLM\d+/.exec(silenced!)![0];
    await open(client, `${name}.py`, text);
    const found = await client.diagnostics(`${name}.py`, (codes) => codes.includes(code));
    const textDocument = { uri: client.uri(`${name}.py`) };
    const actions = (await client.connection.sendRequest(CodeActionRequest.type, {
      textDocument,
      range: found.find((one) => one.code === code)!.range,
      context: { diagnostics: [] },
    })) as CodeAction[];
    const { changes } = actions.find(({ title }) => title === `Silence ${code} on this line`)!.edit!;
    const document = TextDocument.create(textDocument.uri, "python", 1, text);
    const after = TextDocument.applyEdits(document, changes![textDocument.uri]!);
    expect(after).toContain(silenced);
    await client.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { ...textDocument, version: 2 },
      contentChanges: [{ text: after }],
    });
    await client.diagnostics(`${name}.py`, (codes) => !codes.includes(code) && !codes.includes("PLM900"));
  }
});

test("the cells of a notebook are judged together, and mended each by itself", async () => {
  const client = await start({ "step.py": STEP });
  const cells = [
    "import torch\nfrom step import step",
    "%matplotlib inline\ntotal = 0",
    "for x, y in loader:\n    loss = step(model, x.cuda(), y.cuda())\n    loss.backward()\n    optimizer.step()\n    optimizer.zero_grad()\n    total += loss",
  ];
  const cell = (at: number): string => `train.ipynb#${at}`;
  const uri = (at: number): string => client.uri(cell(at));
  const notebook = { uri: client.uri("train.ipynb"), version: 1 };
  await client.connection.sendNotification(DidOpenNotebookDocumentNotification.type, {
    notebookDocument: {
      ...notebook,
      notebookType: "jupyter-notebook",
      cells: cells.map((_, at) => ({ kind: 2 as const, document: uri(at) })),
    },
    cellTextDocuments: cells.map((text, at) => ({ uri: uri(at), languageId: "python", version: 1, text })),
  });
  await open(client, "step.py", STEP);
  // The loop in the notebook is why this runs every step.
  await client.diagnostics("step.py", (codes) => codes.includes("PLM031"));
  const found = await client.diagnostics(cell(2), (codes) => codes.includes("PLM001"));
  const sum = found.find(({ code }) => code === "PLM001")!;
  expect(sum.range.start).toEqual({ line: 5, character: 4 });
  expect(await client.diagnostics(cell(1), () => true)).toEqual([]);

  const textDocument = { uri: uri(2) };
  const hover = await client.connection.sendRequest(HoverRequest.type, {
    textDocument,
    position: sum.range.start,
  });
  expect(hover?.contents).toMatchObject({ value: expect.stringContaining("PLM001") });
  const actions = (await client.connection.sendRequest(CodeActionRequest.type, {
    textDocument,
    range: sum.range,
    context: { diagnostics: [sum] },
  })) as CodeAction[];
  const document = TextDocument.create(uri(2), "python", 1, cells[2]!);
  const { changes } = actions.find(({ isPreferred }) => isPreferred)!.edit!;
  expect(Object.keys(changes!)).toEqual([uri(2)]);
  expect(TextDocument.applyEdits(document, changes![uri(2)]!)).toContain("total += loss.detach()");

  const type = (version: number, at: number, line: number, text: string): Promise<void> =>
    client.connection.sendNotification(DidChangeNotebookDocumentNotification.type, {
      notebookDocument: { ...notebook, version },
      change: {
        cells: {
          textContent: [
            {
              document: { uri: uri(at), version },
              changes: [{ range: { start: { line, character: 0 }, end: { line, character: 0 } }, text }],
            },
          ],
        },
      },
    });
  // Half a line in one cell takes nothing from the others, and is complained of where it stands.
  await type(2, 1, 1, "print((\n");
  const broken = await client.diagnostics(cell(1), (codes) => codes.length > 0);
  expect(broken[0]!.range.start.line).toBeGreaterThan(0);
  await client.diagnostics(cell(2), (codes) => codes.includes("PLM001"));
  await type(3, 1, 1, "# ");
  await client.diagnostics(cell(1), (codes) => codes.length === 0);
});
