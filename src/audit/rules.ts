import type { Rule, RuleMeta } from "./rule.ts";
import { rule as plm001 } from "./rules/plm001-summed-loss-keeps-graph.ts";
import { rule as plm002 } from "./rules/plm002-listed-loss-keeps-graph.ts";
import { rule as plm003 } from "./rules/plm003-evaluation-keeps-outputs-on-device.ts";
import { rule as plm007 } from "./rules/plm007-graph-retained-for-one-backward.ts";
import { rule as plm012 } from "./rules/plm012-hook-registered-every-step.ts";
import { rule as plm015 } from "./rules/plm015-state-dict-copied-on-device.ts";
import { rule as plm018 } from "./rules/plm018-running-statistic-keeps-graph.ts";
import { rule as plm019 } from "./rules/plm019-evaluation-records-gradients.ts";
import { rule as plm021 } from "./rules/plm021-zero-grad-to-zeros.ts";
import { rule as plm022 } from "./rules/plm022-zero-grad-after-forward.ts";
import { rule as plm024 } from "./rules/plm024-anomaly-detection-left-on.ts";
import { rule as plm025 } from "./rules/plm025-host-read-every-step.ts";
import { rule as plm026 } from "./rules/plm026-tensor-printed-every-step.ts";
import { rule as plm027 } from "./rules/plm027-tensor-decides-branch.ts";
import { rule as plm028 } from "./rules/plm028-size-depends-on-data.ts";
import { rule as plm030 } from "./rules/plm030-synchronized-every-step.ts";
import { rule as plm031 } from "./rules/plm031-cache-emptied-in-step.ts";
import { rule as plm032 } from "./rules/plm032-scaler-read-every-step.ts";
import { rule as plm033 } from "./rules/plm033-constant-copied-every-step.ts";
import { rule as plm035 } from "./rules/plm035-moved-after-creation.ts";
import { rule as plm051 } from "./rules/plm051-checkpoint-without-use-reentrant.ts";
import { rule as plm052 } from "./rules/plm052-reentrant-checkpoint-frozen-inputs.ts";
import { rule as plm053 } from "./rules/plm053-checkpoint-drops-rng-state.ts";
import { rule as plm054 } from "./rules/plm054-cache-kept-while-checkpointing.ts";

/** Every rule, by code. Adding one is an import and an entry here (`npm run new:rule` writes both) and nothing else. */
export const RULES: readonly Rule[] = [
  plm001,
  plm002,
  plm003,
  plm007,
  plm012,
  plm015,
  plm018,
  plm019,
  plm021,
  plm022,
  plm024,
  plm025,
  plm026,
  plm027,
  plm028,
  plm030,
  plm031,
  plm032,
  plm033,
  plm035,
  plm051,
  plm052,
  plm053,
  plm054,
];

/** Reported by the engine itself, which alone knows what the others silenced. */
export const UNUSED_NOQA: RuleMeta = {
  code: "PLM900",
  name: "unused-noqa",
  summary: "A `# noqa` for a rule that reports nothing on its line",
  severity: "note",
  fix: "none",
  patterns: [],
};

export const ALL_META: readonly RuleMeta[] = [...RULES.map((rule) => rule.meta), UNUSED_NOQA];
