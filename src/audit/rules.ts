import type { Rule, RuleMeta } from "./rule.ts";
import { rule as plm001 } from "./rules/plm001-summed-loss-keeps-graph.ts";
import { rule as plm002 } from "./rules/plm002-listed-loss-keeps-graph.ts";
import { rule as plm003 } from "./rules/plm003-evaluation-keeps-outputs-on-device.ts";
import { rule as plm004 } from "./rules/plm004-attached-output-kept-on-module.ts";
import { rule as plm005 } from "./rules/plm005-micro-losses-summed-before-backward.ts";
import { rule as plm006 } from "./rules/plm006-recurrent-state-never-detached.ts";
import { rule as plm007 } from "./rules/plm007-graph-retained-for-one-backward.ts";
import { rule as plm008 } from "./rules/plm008-backward-creates-graph.ts";
import { rule as plm009 } from "./rules/plm009-outputs-kept-through-next-forward.ts";
import { rule as plm010 } from "./rules/plm010-retry-inside-except.ts";
import { rule as plm011 } from "./rules/plm011-error-kept-with-frames.ts";
import { rule as plm012 } from "./rules/plm012-hook-registered-every-step.ts";
import { rule as plm013 } from "./rules/plm013-cached-by-tensor.ts";
import { rule as plm014 } from "./rules/plm014-tensor-kept-on-ctx.ts";
import { rule as plm015 } from "./rules/plm015-state-dict-copied-on-device.ts";
import { rule as plm016 } from "./rules/plm016-copied-model-still-trains.ts";
import { rule as plm017 } from "./rules/plm017-attached-tensors-pile-up.ts";
import { rule as plm018 } from "./rules/plm018-running-statistic-keeps-graph.ts";
import { rule as plm019 } from "./rules/plm019-evaluation-records-gradients.ts";
import { rule as plm020 } from "./rules/plm020-teacher-records-gradients.ts";
import { rule as plm021 } from "./rules/plm021-zero-grad-to-zeros.ts";
import { rule as plm022 } from "./rules/plm022-zero-grad-after-forward.ts";
import { rule as plm023 } from "./rules/plm023-gradients-kept-for-evaluation.ts";
import { rule as plm024 } from "./rules/plm024-anomaly-detection-left-on.ts";
import { rule as plm025 } from "./rules/plm025-host-read-every-step.ts";
import { rule as plm026 } from "./rules/plm026-tensor-printed-every-step.ts";
import { rule as plm027 } from "./rules/plm027-tensor-decides-branch.ts";
import { rule as plm028 } from "./rules/plm028-size-depends-on-data.ts";
import { rule as plm029 } from "./rules/plm029-many-host-reads.ts";
import { rule as plm030 } from "./rules/plm030-synchronized-every-step.ts";
import { rule as plm031 } from "./rules/plm031-cache-emptied-in-step.ts";
import { rule as plm032 } from "./rules/plm032-scaler-read-every-step.ts";
import { rule as plm033 } from "./rules/plm033-constant-copied-every-step.ts";
import { rule as plm034 } from "./rules/plm034-loop-of-small-kernels.ts";
import { rule as plm035 } from "./rules/plm035-moved-after-creation.ts";
import { rule as plm036 } from "./rules/plm036-parameter-moved-every-forward.ts";
import { rule as plm037 } from "./rules/plm037-blocking-copy-from-pinned.ts";
import { rule as plm038 } from "./rules/plm038-loader-untuned.ts";
import { rule as plm039 } from "./rules/plm039-device-work-in-loader.ts";
import { rule as plm040 } from "./rules/plm040-dataset-preprocessed-at-once.ts";
import { rule as plm041 } from "./rules/plm041-python-objects-in-workers.ts";
import { rule as plm042 } from "./rules/plm042-constant-moved-in-forward.ts";
import { rule as plm043 } from "./rules/plm043-float64-sent-to-device.ts";
import { rule as plm044 } from "./rules/plm044-attention-by-hand.ts";
import { rule as plm045 } from "./rules/plm045-tensor-grown-by-cat.ts";
import { rule as plm046 } from "./rules/plm046-logits-widened.ts";
import { rule as plm047 } from "./rules/plm047-hidden-states-asked-for.ts";
import { rule as plm048 } from "./rules/plm048-scaled-product-held-twice.ts";
import { rule as plm049 } from "./rules/plm049-loaded-onto-saved-device.ts";
import { rule as plm050 } from "./rules/plm050-frozen-base-in-float32.ts";
import { rule as plm051 } from "./rules/plm051-checkpoint-without-use-reentrant.ts";
import { rule as plm052 } from "./rules/plm052-reentrant-checkpoint-frozen-inputs.ts";
import { rule as plm053 } from "./rules/plm053-checkpoint-drops-rng-state.ts";
import { rule as plm054 } from "./rules/plm054-cache-kept-while-checkpointing.ts";
import { rule as plm055 } from "./rules/plm055-evaluation-gathers-logits.ts";
import { rule as plm056 } from "./rules/plm056-padded-to-fixed-length.ts";
import { rule as plm057 } from "./rules/plm057-adam-without-fused.ts";
import { rule as plm058 } from "./rules/plm058-ddp-untuned.ts";
import { rule as plm059 } from "./rules/plm059-fsdp-without-wrap-policy.ts";
import { rule as plm060 } from "./rules/plm060-data-parallel.ts";
import { rule as plm061 } from "./rules/plm061-mixed-precision-misused.ts";
import { rule as plm062 } from "./rules/plm062-compiled-again-and-again.ts";
import { rule as plm063 } from "./rules/plm063-four-bit-defaults.ts";
import { rule as plm064 } from "./rules/plm064-cudnn-benchmark-with-varying-shapes.ts";
import { rule as plm065 } from "./rules/plm065-accumulation-miscounted.ts";
import { rule as plm066 } from "./rules/plm066-gradients-for-what-does-not-learn.ts";
import { rule as plm067 } from "./rules/plm067-attention-weights-thrown-away.ts";
import { rule as plm068 } from "./rules/plm068-hidden-host-read.ts";
import { rule as plm069 } from "./rules/plm069-tensor-logged-every-step.ts";
import { rule as plm070 } from "./rules/plm070-indexed-by-host-data.ts";
import { rule as plm071 } from "./rules/plm071-barrier-every-step.ts";
import { rule as plm072 } from "./rules/plm072-pinned-batch-joined-on-host.ts";
import { rule as plm073 } from "./rules/plm073-distribution-validated-every-step.ts";
import { rule as plm074 } from "./rules/plm074-double-precision-in-step.ts";
import { rule as plm075 } from "./rules/plm075-full-state-gathered-on-device.ts";
import { rule as plm076 } from "./rules/plm076-loader-rebuilt-every-step.ts";
import { rule as plm077 } from "./rules/plm077-parameter-that-never-trains.ts";
import { rule as plm078 } from "./rules/plm078-constant-table-built-in-forward.ts";
import { rule as plm079 } from "./rules/plm079-clipped-every-micro-step.ts";
import { rule as plm080 } from "./rules/plm080-same-forward-every-step.ts";
import { rule as plm081 } from "./rules/plm081-fresh-result-cloned.ts";
import { rule as plm082 } from "./rules/plm082-all-ranks-on-first-device.ts";
import { rule as plm083 } from "./rules/plm083-timed-without-waiting.ts";
import { rule as plm084 } from "./rules/plm084-sync-flag-off-by-one.ts";

/** Every rule, by code. Adding one is an import and an entry here (`npm run new:rule` writes both) and nothing else. */
export const RULES: readonly Rule[] = [
  plm001,
  plm002,
  plm003,
  plm004,
  plm005,
  plm006,
  plm007,
  plm008,
  plm009,
  plm010,
  plm011,
  plm012,
  plm013,
  plm014,
  plm015,
  plm016,
  plm017,
  plm018,
  plm019,
  plm020,
  plm021,
  plm022,
  plm023,
  plm024,
  plm025,
  plm026,
  plm027,
  plm028,
  plm029,
  plm030,
  plm031,
  plm032,
  plm033,
  plm034,
  plm035,
  plm036,
  plm037,
  plm038,
  plm039,
  plm040,
  plm041,
  plm042,
  plm043,
  plm044,
  plm045,
  plm046,
  plm047,
  plm048,
  plm049,
  plm050,
  plm051,
  plm052,
  plm053,
  plm054,
  plm055,
  plm056,
  plm057,
  plm058,
  plm059,
  plm060,
  plm061,
  plm062,
  plm063,
  plm064,
  plm065,
  plm066,
  plm067,
  plm068,
  plm069,
  plm070,
  plm071,
  plm072,
  plm073,
  plm074,
  plm075,
  plm076,
  plm077,
  plm078,
  plm079,
  plm080,
  plm081,
  plm082,
  plm083,
  plm084,
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
