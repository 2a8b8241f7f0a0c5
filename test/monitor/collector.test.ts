import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { collect } from "../../src/monitor/collector.ts";
import { Tail } from "../../src/monitor/tail.ts";
import { emptyFolder } from "../support/folder.ts";
import { train } from "../probe/training.ts";

vi.setConfig({ testTimeout: 240_000 });

const NAME = "rank-3-node1-77.jsonl";

async function started(token = "secret"): Promise<{ folder: string; url: string }> {
  const folder = emptyFolder();
  const collector = await collect(folder, "127.0.0.1:0", token);
  onTestFinished(() => collector.close());
  return { folder, url: `http://127.0.0.1:${collector.port}` };
}

function post(url: string, path: string, body: string, token = "secret"): Promise<Response> {
  return fetch(url + path, { method: "POST", body, headers: { authorization: `Bearer ${token}` } });
}

test("bytes are appended once, whatever is sent again or too early", async () => {
  const { folder, url } = await started();
  const send = async (offset: number, body: string): Promise<string> =>
    (await post(url, `/v1/records/${NAME}?offset=${offset}`, body)).text();
  expect(await send(0, "one\n")).toBe("4");
  expect(await send(0, "one\n")).toBe("4");
  expect(await send(9, "late\n")).toBe("4");
  expect(await send(4, "two\n")).toBe("8");
  expect(readFileSync(join(folder, NAME), "utf8")).toBe("one\ntwo\n");
});

test("a wrong token, another path and too much are refused, and nothing is written", async () => {
  const { folder, url } = await started();
  const path = `/v1/records/${NAME}?offset=0`;
  expect((await post(url, path, "x", "guess")).status).toBe(401);
  expect((await post(url, "/v1/records/..%2Frun.json?offset=0", "x")).status).toBe(404);
  expect((await post(url, "/v1/records/run.json?offset=0", "x")).status).toBe(404);
  expect((await fetch(url + path, { headers: { authorization: "Bearer secret" } })).status).toBe(404);
  const large = await post(url, path, "x".repeat(5 << 20)).catch(() => ({ status: 413 }));
  expect(large.status).toBe(413);
  expect(readdirSync(folder)).toEqual([]);
});

test("an address that others can reach needs a token", async () => {
  await expect(collect(emptyFolder(), "0.0.0.0:0", "")).rejects.toThrow("needs a token");
  await expect(collect(emptyFolder(), "nonsense", "t")).rejects.toThrow("HOST:PORT");
});

const SCRIPT = `
import torch
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(50):
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
print("done")
`;

test("a rank's record arrives whole, byte for byte; a dead collector costs nothing", async () => {
  const { folder, url } = await started();
  const sent = await train(SCRIPT, { PLIMSOLL_COLLECTOR: url, PLIMSOLL_TOKEN: "secret" });
  expect(sent.stdout).toBe("done\n");
  const [name] = readdirSync(sent.folder);
  expect(readFileSync(join(folder, name!))).toEqual(readFileSync(join(sent.folder, name!)));
  expect(new Tail(folder).read()[0]!.steps).toBe(50);
  const alone = await train(SCRIPT, { PLIMSOLL_COLLECTOR: "http://127.0.0.1:9", PLIMSOLL_TOKEN: "secret" });
  expect({ code: alone.code, stdout: alone.stdout, stderr: alone.stderr }).toEqual({
    code: 0,
    stdout: "done\n",
    stderr: "",
  });
  expect(alone.records[0]!.steps).toBe(50);
  expect(existsSync(join(folder, readdirSync(alone.folder)[0]!))).toBe(false);
});
