import { isFalse, isTrue, keyword } from "../../python/file.ts";
import { addKeyword } from "../edits.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM038",
    name: "loader-untuned",
    summary: "A DataLoader of a program that uses an accelerator neither pins its batches nor has workers",
    severity: "note",
    fix: "unsafe",
    patterns: [38],
  },
  *check(facts) {
    const { file } = facts;
    if (!facts.accelerator) return;
    for (const call of file.callsNamed("DataLoader")) {
      if (
        !/^torch\.utils\.data\.(?:dataloader\.)?DataLoader$/.test(file.dotted(call.func) ?? "") ||
        call.args.some((arg) => arg.star !== 0)
      )
        continue;
      if (call.args.filter((arg) => arg.name === null).length > 5) continue;
      // A collate function may return tensors that are on the device already; those cannot be pinned.
      const pin = keyword(call, "pin_memory");
      const unpinned = pin ? isFalse(pin.value) : keyword(call, "collate_fn") === null;
      const workers = keyword(call, "num_workers");
      const idle = !workers || (workers.value.kind === "Num" && workers.value.text === "0");
      if (unpinned)
        yield {
          at: call.func,
          message: idle
            ? "The training process itself loads every batch and copies it from pageable memory: neither overlaps with the device's work"
            : "Batches are copied from pageable memory: the copy goes through a staging buffer and cannot overlap with the device's work",
          fix: {
            grade: "unsafe",
            title: "Pin the batches",
            edits: pin
              ? [{ start: pin.value.start, end: pin.value.end, text: "True" }]
              : addKeyword(call, "pin_memory=True", file),
          },
        };
      else if (idle && isTrue(pin?.value ?? null))
        yield {
          at: call.func,
          message:
            "The training process itself loads every batch, between the steps: with workers it is ready before",
        };
    }
  },
};
