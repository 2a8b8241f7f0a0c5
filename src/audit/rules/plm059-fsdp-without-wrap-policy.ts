import { keyword } from "../../python/file.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM059",
    name: "fsdp-without-wrap-policy",
    summary: "FSDP wraps the whole model as one unit: all parameters are gathered at once",
    severity: "warning",
    fix: "none",
    patterns: [59],
  },
  *check({ file }) {
    if (!/FullyShardedDataParallel/.test(file.text)) return;
    const wraps = file
      .all("Call")
      .filter((call) =>
        /^torch\.distributed\.fsdp\.(?:fully_sharded_data_parallel\.)?FullyShardedDataParallel$/.test(
          file.dotted(call.func) ?? "",
        ),
      );
    // Several wraps, or `wrap()` inside the model, make units by hand.
    if (
      wraps.length !== 1 ||
      file
        .all("Call")
        .some((call) => (file.dotted(call.func) ?? "").startsWith("torch.distributed.fsdp.wrap."))
    )
      return;
    const [call] = wraps;
    if (
      call!.args.some((arg) => arg.star !== 0) ||
      keyword(call!, "auto_wrap_policy") ||
      // Nothing is sharded, so nothing is gathered.
      /NO_SHARD/.test(file.textOf(call!)) ||
      call!.args.filter((arg) => arg.name === null).length > 4
    )
      return;
    yield {
      at: call!.func,
      message:
        "Without `auto_wrap_policy` the model is one unit: each forward and backward gathers all its parameters at once, as if nothing were sharded",
    };
  },
  *checkConfig(config) {
    const fsdp = config.settings.some(
      ({ key, value }) =>
        (key === "distributed_type" && value === "FSDP") ||
        (key === "fsdp" && typeof value === "string" && value !== ""),
    );
    if (!fsdp) return;
    for (const setting of config.named("fsdp_auto_wrap_policy"))
      if (setting.value === "NO_WRAP")
        yield {
          at: setting.valueAt,
          message:
            "With `NO_WRAP` the model is one unit: each forward and backward gathers all its parameters at once, as if nothing were sharded",
        };
  },
};
