import {
  ranked,
  sweepSettings,
  whatIf,
  type Limit,
  type Outcome,
  type WhatIf,
} from "../../allocator/what-if.ts";
import { UserError } from "../../base/errors.ts";
import { formatBytes, parseBytes, type Bytes } from "../../base/units.ts";
import type { Command, Input, Io } from "../command.ts";

const DEFAULT = "torch's defaults";

export const command: Command = {
  name: "replay",
  summary: "what the allocator would have done under other settings",
  usage: "plimsoll replay FILE [--alloc-conf SETTINGS]… [--sweep] [--cap BYTES]",
  examples: [
    {
      line: "plimsoll replay snapshot.pickle --alloc-conf expandable_segments:True",
      says: "recorded against simulated, side by side",
    },
    {
      line: "plimsoll replay oom.pickle --sweep",
      says: "would any settings have avoided this out-of-memory?",
    },
    { line: "plimsoll replay snapshot.pickle --sweep --cap 16GB", says: "the same run on a smaller budget" },
  ],
  options: {
    "alloc-conf": {
      type: "string",
      multiple: true,
      value: "SETTINGS",
      summary: "settings to try, as in PYTORCH_CUDA_ALLOC_CONF",
    },
    sweep: { type: "boolean", summary: "try the settings that are worth trying, best first" },
    cap: { type: "string", value: "BYTES", summary: "memory the allocator may reserve: 24GB, 22GiB" },
    json: { type: "boolean", summary: "print the result as JSON" },
  },
  arguments: { name: "FILE", min: 1, max: 1 },
  async run(input, io) {
    const file = input.positionals[0]!;
    const { confs, cap } = read(input);
    const { readSnapshotFile } = await import("../../snapshot/file.ts");
    const snapshot = await readSnapshotFile(file);
    const devices = snapshot.devices
      .filter(({ tape }) => tape.length > 0)
      .map(({ device, tape }) => ({ device, tape, result: whatIf(tape, confs, cap) }));
    if (devices.length === 0) {
      throw new UserError(
        `${file}: no history to replay`,
        "call torch.cuda.memory._record_memory_history() before the run",
      );
    }
    const results = devices.map(({ result }) => result);
    if (input.options["json"]) {
      io.out(
        `${JSON.stringify({ file, devices: devices.map((one) => asJson(one.device, one.tape.info.truncated, one.result)) }, null, 2)}\n`,
      );
    } else {
      for (const { device, tape, result } of devices) {
        print(
          io,
          `${file}, device ${device}: ${tape.length.toLocaleString("en")} events`,
          tape.info.truncated,
          result,
        );
      }
    }
    // Asked for settings: does the best of them fit? Asked for none: do the recorded ones?
    return results.every(({ same, others }) =>
      (others.length > 0 ? others : [same]).some(({ oom }) => oom === null),
    )
      ? 0
      : 1;
  },
};

function read({ options }: Input): {
  readonly confs: readonly string[] | ((limit: Limit | null) => readonly string[]);
  readonly cap: Bytes | null;
} {
  const named = (options["alloc-conf"] ?? []) as readonly string[];
  const text = options["cap"] as string | undefined;
  const cap = text === undefined ? null : parseBytes(text);
  if (text !== undefined && (cap === null || cap <= 0)) {
    throw new UserError(
      `--cap takes an amount of memory, not "${text}"`,
      "for example --cap 24GB or --cap 22GiB",
    );
  }
  const confs = options["sweep"]
    ? (limit: Limit | null) => [...new Set([...named, ...sweepSettings(limit)])]
    : named;
  return { confs, cap };
}

function best(result: WhatIf): Outcome {
  return ranked([result.same, ...result.others])[0]!;
}

function asJson(device: number, truncated: boolean, result: WhatIf): unknown {
  const { check, recordedConf, recordedPeak, recordedSegments, ooms, limit, same, others } = result;
  return {
    device,
    truncated,
    recorded: {
      conf: recordedConf,
      peakReserved: recordedPeak,
      segmentEvents: recordedSegments,
      ooms: ooms.length,
    },
    exact: check.exact,
    limit,
    same,
    others: ranked(others),
    best: best(result).conf,
  };
}

function print(io: Io, title: string, truncated: boolean, result: WhatIf): void {
  const { check, limit, same, recordedConf, recordedPeak, recordedSegments } = result;
  io.out(`${title}, recorded under ${recordedConf || DEFAULT}\n`);
  if (truncated)
    io.out(
      "The history begins in the middle: what was there before is placed from the final state, so peaks are approximate.\n",
    );
  if (limit) io.out(`${limitLine(limit)}\n`);
  const rows = [
    ["settings", "peak reserved", "peak allocated", "unused", "segments", "retries", ""],
    [
      "recorded",
      formatBytes(recordedPeak),
      "",
      "",
      String(check.recordedTaken),
      "",
      result.ooms.length > 0 ? "out of memory" : "",
    ],
    cells("simulated, the same", same),
    ...ranked(result.others).map((one) => cells(one.conf || DEFAULT, one)),
  ];
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  io.out("\n");
  for (const row of rows) {
    io.out(
      `${row
        .map((cell, at) => (at === 0 || at === 6 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
        .join("  ")
        .trimEnd()}\n`,
    );
  }
  io.out("\n");
  io.out(
    check.exact
      ? `The simulation agrees with the recording: ${recordedSegments} segment events, each the same.\n`
      : `The simulation departs from the recording at segment event ${check.difference?.at ?? "?"} of ${recordedSegments}: take the numbers as estimates.\n`,
  );
  io.out(`${verdict(result)}\n`);
}

function cells(name: string, one: Outcome): string[] {
  const [avoided] = one.avoided;
  const end = one.oom
    ? `out of memory: ${formatBytes(one.oom.requested)} asked, ${one.oom.cause}`
    : avoided
      ? `no OOM, ${formatBytes(avoided.spare)} spare`
      : "";
  return [
    name,
    formatBytes(one.peakReserved),
    formatBytes(one.peakAllocated),
    `${(one.unused * 100).toFixed(1)} %`,
    String(one.segments),
    String(one.retries),
    end,
  ];
}

function limitLine({ bytes, source }: Limit): string {
  if (source === "given") return `Limit: ${formatBytes(bytes)} (--cap).`;
  if (source === "device")
    return `Limit: ${formatBytes(bytes)}, what the card had for this process when it ran out.`;
  return `Limit: about ${formatBytes(bytes)}, between what the run held and what it was refused; a memory fraction was set, and the file does not say which (--cap does).`;
}

function verdict(result: WhatIf): string {
  const { same, limit, others } = result;
  const winner = best(result);
  const name = winner.conf || DEFAULT;
  if (same.oom) {
    const { requested, cause, allocated, largestFree, cachedFree } = same.oom;
    const failed = `OOM at ${formatBytes(requested)} under the recorded settings (${formatBytes(allocated)} allocated, ${formatBytes(cachedFree)} cached and free, largest piece ${formatBytes(largestFree)}: ${cause})`;
    const afterwards =
      result.ooms.length > 0 ? " What the run would have asked for next is not in the recording." : "";
    if (winner.oom === null)
      return `${failed}; no OOM with ${name}, ${formatBytes(limit!.bytes - winner.peakReserved)} spare at its peak.${afterwards}`;
    if (others.length === 0) return `${failed}. Try --sweep.`;
    return `${failed}; ${others.length === 1 ? "the settings tried do not avoid it" : `none of the ${others.length} settings tried avoids it`}.`;
  }
  if (others.length === 0) return "Nothing else was asked for: give --alloc-conf or --sweep.";
  const saved = same.peakReserved - winner.peakReserved;
  if (winner.conf === same.conf || saved <= 0)
    return "None of them reserves less than the recorded settings.";
  return `${name} reserves ${formatBytes(saved)} less (${((saved / same.peakReserved) * 100).toFixed(1)} %).`;
}
