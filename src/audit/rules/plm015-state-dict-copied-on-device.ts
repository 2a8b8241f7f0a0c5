import { positional } from "../../python/file.ts";
import type { Rule } from "../rule.ts";

export const rule: Rule = {
  meta: {
    code: "PLM015",
    name: "state-dict-copied-on-device",
    summary: "`deepcopy(model.state_dict())` keeps a second copy of all weights on the device",
    severity: "warning",
    fix: "unsafe",
    patterns: [15],
  },
  *check(facts) {
    if (!/deepcopy/.test(facts.file.text)) return;
    const { file } = facts;
    // In a file that never mentions a device, tests above all, the model is on the host.
    if (
      !facts.accelerator ||
      !/cuda|device|accelerat/i.test(file.text) ||
      /(?:^|\/)tests?\/|(?:^|\/)test_[^/]*$/.test(file.path)
    )
      return;
    for (const call of file.all("Call")) {
      if (file.dotted(call.func) !== "copy.deepcopy" || call.args.length !== 1) continue;
      const state = positional(call, 0);
      if (
        state?.kind !== "Call" ||
        state.func.kind !== "Attribute" ||
        state.func.attr !== "state_dict" ||
        state.args.length > 0
      )
        continue;
      const receiver = state.func.value;
      const text = file.textOf(receiver);
      // An optimizer's state holds more than tensors; a model moved to the host is copied there.
      if (
        /optim|sched|scaler/i.test(text) ||
        (receiver.kind === "Call" && receiver.func.kind === "Attribute" && receiver.func.attr === "cpu")
      )
        continue;
      yield {
        at: call,
        message: `A second copy of every weight of \`${text.length > 40 ? "the model" : text}\` stays on the device; on the host it costs nothing there`,
        fix: {
          grade: "unsafe",
          title: "Copy to the host",
          edits: [
            {
              start: call.start,
              end: call.end,
              text: `{k: v.detach().to("cpu", copy=True) for k, v in ${file.textOf(state)}.items()}`,
            },
          ],
        },
      };
    }
  },
};
