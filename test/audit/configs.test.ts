import { expect, test } from "vitest";
import { auditTexts } from "../../src/audit/session.ts";
import { DEFAULTS } from "../../src/audit/settings.ts";

const settings = { ...DEFAULTS, unproven: true };
const found = (path: string, text: string): string[] =>
  auditTexts([{ path, text }], settings).findings.map(
    ({ rule, line, column }) => `${rule} ${line}:${column}`,
  );

test("a setting of a TOML file stands in its own table", () => {
  const text = `# detect_anomaly = true
per_device_train_batch_size = 4
notes = """
detect_anomaly = true
"""
[eval]
detect_anomaly = false
paths = [ "a", # ]
  'detect_anomaly = true' ]
[[stages]]
detect_anomaly = false
[[stages]]
detect_anomaly = true
inner . "deep" = { detect_anomaly = true, "dataloader_pin_memory" = false }
[stages.more]
detect_anomaly=true # because
[train]
runs = [{ detect_anomaly = false }, { seed = 1979-05-27 07:32:00, detect_anomaly = true }]
`;
  const { findings } = auditTexts([{ path: "conf/a.toml", text }], settings);
  expect(found("conf/a.toml", text)).toEqual([
    "PLM024 13:18",
    "PLM024 14:37",
    "PLM038 14:69",
    "PLM024 16:16",
    "PLM024 18:84",
  ]);
  for (const { rule, fix } of findings)
    if (rule === "PLM024")
      for (const { start, end } of fix!.edits) expect(text.slice(start, end)).toBe("true");
});

test("in YAML each document is one, and what PyYAML takes for true is", () => {
  const text = `optimizer: x
detect_anomaly: no
---
per_device_train_batch_size: 4
detect_anomaly: yes
---
a: { detect_anomaly: On, other: "on" }
`;
  expect(found("a.yaml", text)).toEqual(["PLM024 5:17", "PLM024 7:22"]);
  expect(found("a.yaml", text.replace("yes", '"yes"').replace("On", "Yes?"))).toEqual([]);
});

test("what an optimizer's step takes is said of what trains", () => {
  const message = (text: string): string =>
    auditTexts([{ path: "a.yaml", text }], settings).findings[0]!.message;
  expect(message("optim: adamw_torch\nfinetuning_type: full\n")).toContain("as large as all parameters;");
  expect(message("optim: adamw_torch\nbase_model: x\nadapter: qlora\n")).toContain(
    "all the parameters that train;",
  );
});

test("what is broken is told of where it is named outright, whatever is in it", () => {
  const told = (path: string, text: string): string[] =>
    auditTexts([{ path, text }], settings).diagnostics.map(({ message }) => message);
  expect(told("a.ipynb", '{"cells": [')).toEqual(["not a notebook: invalid JSON"]);
  expect(told("a.ipynb", "")).toEqual(["not a notebook: invalid JSON"]);
  for (const text of ["[]", '["torch"]', '{"a": 1}', "null"])
    expect(told("a.ipynb", text)).toEqual(["not a notebook: no cells"]);
  expect(told("a.ipynb", '{"worksheets": [{"cells": []}]}')).toEqual([expect.stringContaining("format 3")]);
  const cells = ["x = 1", "y = ("].map((source) => ({ cell_type: "code", source }));
  expect(told("a.ipynb", JSON.stringify({ cells }))).toEqual([
    "cell 2, line 1: a bracket was never closed (and 1 more)",
  ]);
  expect(told("a.toml", "a = [")).toEqual([expect.stringContaining("invalid TOML")]);
  expect(told("a.yaml", "a: [")).toEqual([expect.stringContaining("invalid YAML")]);
  expect(told("a.json", '{"a": ')).toEqual([expect.stringContaining("invalid JSON")]);
  expect(told("a.yaml", "a: 1")).toEqual([]);
});
