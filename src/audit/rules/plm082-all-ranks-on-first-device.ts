import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM082",
    name: "all-ranks-on-first-device",
    summary: "A distributed program never chooses a device, so every rank allocates on the first",
    severity: "error",
    fix: "none",
    patterns: [82],
  },
  *check(facts) {
    if (!/init_process_group/.test(facts.file.text)) return;
    const { file } = facts;
    if (
      !file
        .all("Call")
        .some((call) =>
          /^torch\.distributed\.(?:distributed_c10d\.)?init_process_group$/.test(
            file.dotted(call.func) ?? "",
          ),
        )
    )
      return;
    // Any of these may give each rank its own device.
    if (
      /set_device|CUDA_VISIBLE_DEVICES|device_ids|local_rank|LOCAL_RANK|cuda:\{|"cuda:" ?\+|gloo|torch\.device\(\s*["']cuda["']\s*,|cuda\(\s*\w|accelerat|deepspeed|get_rank|device_id/i.test(
        file.text,
      )
    )
      return;
    for (const call of file.all("Call")) {
      if (call.func.kind !== "Attribute" || facts.file.dotted(call.func) !== null) continue;
      const first = call.args[0]?.value;
      const plain =
        call.func.attr === "cuda"
          ? call.args.length === 0
          : call.func.attr === "to" &&
            call.args.length === 1 &&
            first?.kind === "Str" &&
            /^cuda(?::0)?$/.test(first.value ?? "");
      if (!plain) continue;
      yield {
        at: call,
        message:
          "Every rank of this program means the first device by this: it holds one copy for each process, and the others stay empty",
      };
      return;
    }
  },
};
