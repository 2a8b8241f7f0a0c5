/** What is true of each workload: the diagnosis that must come, the mend, and the recipes before and after. */
export interface Place {
  readonly file: string;
  /** A piece of the line. */
  readonly at: string;
}

export interface Workload {
  readonly name: string;
  readonly claim: string;
  readonly audit: {
    readonly path: string;
    readonly found: readonly (Place & { readonly rule: string })[];
    /** Rules that would repeat what the seed believes, and is not so. */
    readonly never: readonly string[];
  };
  /** What `--fix` must make disappear; the rest is mended by hand in after/, where there is one. */
  readonly fix: {
    readonly unsafe: boolean;
    /** Only these, where mending all at once would cause other findings. */
    readonly select?: string;
    readonly gone: readonly string[];
  };
  /** Recipes as measured, in `plimsoll plan`'s words: run name in evidence/seeds → arguments. */
  readonly plans: Readonly<Record<string, readonly string[]>>;
  /** A recipe that must be planned to fit the cards it names. */
  readonly fits?: readonly string[];
  readonly fit: readonly string[];
  /** Run on the CPU in the copy that was not fixed. */
  readonly run: { readonly command: string; readonly leak: Place | null };
  /** `before` runs in the untouched copy, `after` in the fixed one. */
  readonly verify: {
    readonly before: string;
    readonly after: string;
    /** Only where the mend promises it at this size: recomputed layers, logits in chunks and a smaller micro-batch
     * are paid for in Python here, and their price at full size is in the evidence. */
    readonly slowdown?: string;
  };
  readonly bars: readonly Bar[];
}

export type Bar =
  | { readonly what: "grows"; readonly run: string; readonly atLeast: number }
  | { readonly what: "steady"; readonly run: string }
  | { readonly what: "fits"; readonly run: string; readonly card: number }
  /** What `plimsoll verify` said of before and after at full size on the GPU. */
  | { readonly what: "same and leaner"; readonly verified: string }
  | { readonly what: "no slower in pairs"; readonly verified: string }
  /** Blocks of steps in turn, in one process. */
  | { readonly what: "no slower in blocks"; readonly run: string }
  | { readonly what: "no slower"; readonly before: string; readonly after: string }
  | { readonly what: "watched"; readonly run: string; readonly leak: Place; readonly alert: string }
  | { readonly what: "times faster"; readonly run: string; readonly atLeast: number };

const H200 = ["--card", "H200"];
const LSLORA =
  "workloads/lslora/full.json --rank 16 --nonlinearity fourier --batch 2 --seq 2048 --targets qkv_proj,o_proj,gate_up_proj,down_proj".split(
    " ",
  );
const LORA = ["--method", "lora"];
const QAT = "gpt2 --method qat --bits 4,8,16 --rank 8 --batch 4 --seq 512 --dtype fp32".split(" ");
const PHI4 = ["workloads/phi4_lora/before/configs/config.yaml"];
const QWEN = ["workloads/qwen7b_lora/before/config/config.py"];
const QWEN_AFTER = [...QWEN, "--loss", "fused", "--autocast-adapters"].concat([
  "--alloc-conf",
  "expandable_segments:True",
]);
const HOST = ["--optimizer-in-backward", "--optimizer-host", "--no-clip"];
const LEAK: Place = { file: "quantization.py", at: "self.running_min = self.running_min * 0.9" };
const FULL = "workloads/full_13b/full.json --method full --seq 2048 --checkpointing".split(" ");

export const WORKLOADS: readonly Workload[] = [
  {
    name: "lslora",
    claim: "summing the penalty synchronises 128 times a step; stacking it: 15 to 30 % faster",
    audit: {
      path: "before",
      found: [
        { rule: "PLM034", file: "lslora.py", at: "total_loss += loss" },
        { rule: "PLM033", file: "lslora.py", at: "target = identity.to(coeffs.device)" },
        { rule: "PLM036", file: "lslora.py", at: "coeffs = params.weight.to(z.device)" },
        { rule: "PLM019", file: "train_lslora.py", at: "dev = (coeffs - identity" },
        { rule: "PLM051", file: "train_lslora.py", at: "return checkpoint(" },
      ],
      never: ["PLM001", "PLM025"],
    },
    fix: { unsafe: true, gone: ["PLM019", "PLM051"] },
    plans: {
      "lslora-before": [...LSLORA, ...LORA, "--checkpointing=reentrant", ...H200],
      "lslora-after": [...LSLORA, ...LORA, "--checkpointing", "--loss", "fused", ...H200],
      "lslora-4bit": [...LSLORA, "--method", "qlora", "--checkpointing", "--loss", "fused", ...H200],
    },
    fit: [...LSLORA, ...LORA, "--checkpointing=reentrant", "--card", "12GB"],
    run: {
      command: "lslora/before/train_lslora.py --size tiny --steps 16",
      leak: null,
    },
    verify: {
      before: "lslora/before/train_lslora.py --size tiny",
      after: "lslora/after/train_lslora.py --size tiny",
    },
    bars: [
      { what: "times faster", run: "lslora-regulariser", atLeast: 4 },
      { what: "same and leaner", verified: "verify-lslora" },
      { what: "no slower in pairs", verified: "verify-lslora" },
      { what: "steady", run: "lslora-after" },
      { what: "fits", run: "lslora-after", card: 12e9 },
    ],
  },
  {
    name: "qat_gpt2",
    claim: "3 GB leak in 100 steps, from checkpointing, `.item()` and the statistics",
    audit: {
      path: "before",
      found: [
        { rule: "PLM018", file: "quantization.py", at: "self.running_min = self.running_min * 0.9" },
        { rule: "PLM018", file: "quantization.py", at: "self.running_max = self.running_max * 0.9" },
        { rule: "PLM025", file: "train_qat.py", at: "total_loss += loss.item()" },
        { rule: "PLM031", file: "train_qat.py", at: "torch.cuda.empty_cache()" },
        { rule: "PLM031", file: "models.py", at: "torch.cuda.empty_cache()" },
        { rule: "PLM053", file: "models.py", at: "preserve_rng_state=False" },
        { rule: "PLM048", file: "lora.py", at: "(x @ lora_A @ lora_B) * self.scaling" },
        { rule: "PLM040", file: "dataset.py", at: "processed.append(" },
      ],
      never: ["PLM001", "PLM002", "PLM051"],
    },
    fix: { unsafe: false, gone: ["PLM018", "PLM009"] },
    plans: { "qat_gpt2-after": [...QAT, ...H200] },
    fit: [...QAT, "--card", "24GB"],
    run: {
      command: "qat_gpt2/before/train_qat.py --size tiny --steps 60",
      leak: LEAK,
    },
    verify: {
      before: "qat_gpt2/before/train_qat.py --size tiny",
      after: "qat_gpt2/before/train_qat.py --size tiny",
      slowdown: "5%",
    },
    bars: [
      { what: "grows", run: "qat_gpt2-before", atLeast: 20e9 },
      { what: "steady", run: "qat_gpt2-after" },
      { what: "same and leaner", verified: "verify-qat_gpt2" },
      // Its steps wait for the host, whose unevenness hides in whole runs what blocks of five steps show.
      { what: "no slower in blocks", run: "qat_gpt2-pairs" },
      { what: "watched", run: "qat_gpt2-run", leak: LEAK, alert: "reserved>20GB" },
    ],
  },
  {
    name: "phi4_lora",
    claim: "checkpointing −40 to 50 %, no cache −10 to 15 %: −60 to 70 % in all, and 50 to 100 % faster",
    audit: {
      path: "before",
      found: [
        { rule: "PLM001", file: "loop.py", at: "running += loss" },
        { rule: "PLM058", file: "main.py", at: "DistributedDataParallel(" },
      ],
      never: ["PLM031", "PLM018"],
    },
    fix: { unsafe: true, gone: ["PLM001", "PLM058"] },
    plans: {
      "phi4_lora-before": [...PHI4, ...H200],
      "phi4_lora-after": [
        ...PHI4,
        "--checkpointing=every:3",
        "--loss",
        "fused",
        "--autocast-adapters",
        ...H200,
      ],
    },
    fit: [...PHI4, "--may-autocast-adapters", "--card", "48GB"],
    run: {
      command: "phi4_lora/before/src/main.py size=tiny train.steps=16",
      leak: null,
    },
    verify: {
      before: "phi4_lora/before/src/main.py size=tiny",
      after:
        "phi4_lora/before/src/main.py size=tiny model.gradient_checkpointing=true model.checkpoint_every=3 model.use_cache=false model.autocast_adapters=true train.loss=chunked",
    },
    bars: [
      { what: "same and leaner", verified: "verify-phi4_lora" },
      { what: "no slower in pairs", verified: "verify-phi4_lora" },
      { what: "steady", run: "phi4_lora-after" },
      { what: "fits", run: "phi4_lora-after", card: 48e9 },
    ],
  },
  {
    name: "qwen7b_lora",
    claim: "25.0 GB at 2 × 2048; fits 24 GB (20.0) only if shortened to 1 × 1536",
    audit: {
      path: "before",
      found: [
        { rule: "PLM025", file: "train_baseline.py", at: "total_loss += loss.item()" },
        { rule: "PLM031", file: "train_baseline.py", at: "torch.cuda.empty_cache()" },
        { rule: "PLM031", file: "train_baseline.py", at: "gc.collect()" },
      ],
      never: ["PLM001", "PLM018"],
    },
    fix: { unsafe: true, select: "PLM031,PLM038", gone: ["PLM031"] },
    plans: {
      "qwen7b_lora-before": [...QWEN, "--accumulation", "4", ...H200],
      "qwen7b_lora-after": [...QWEN_AFTER, "--accumulation", "4", ...H200],
    },
    fits: [...QWEN_AFTER, "--card", "24GB"],
    fit: [...QWEN, "--may-autocast-adapters", "--card", "24GB"],
    run: {
      command: "qwen7b_lora/before/train_baseline.py --size tiny --steps 16",
      leak: null,
    },
    verify: {
      before: "qwen7b_lora/before/train_baseline.py --size tiny",
      after: "qwen7b_lora/after/train_baseline.py --size tiny",
    },
    bars: [
      { what: "same and leaner", verified: "verify-qwen7b_lora" },
      { what: "no slower in pairs", verified: "verify-qwen7b_lora" },
      { what: "steady", run: "qwen7b_lora-after" },
      { what: "fits", run: "qwen7b_lora-after", card: 24e9 },
    ],
  },
  {
    name: "full_13b",
    claim:
      "83.8 GB, 57.6 with the optimizer on the host: does not fit 48 GB; two of 24 GB need 16, 28.8 or 32 each",
    audit: {
      path: "before",
      found: [
        { rule: "PLM059", file: "training_system.py", at: "model = FSDP(" },
        { rule: "PLM025", file: "training_system.py", at: "total_loss += loss.item()" },
      ],
      never: ["PLM001", "PLM065", "PLM079"],
    },
    fix: { unsafe: true, gone: ["PLM025"] },
    plans: {
      "full_13b-before": [...FULL, "--optimizer", "adamw-8bit", "--accumulation", "32", ...H200],
      "full_13b-after": [...FULL, "--batch", "8", ...HOST, ...H200],
      "full_13b-least": [...FULL, ...HOST, ...H200],
      "full_13b-rank": [...FULL, "--fsdp", "--offload", "--cards", "2xH200"],
    },
    fits: [...FULL, "--fsdp", "--offload", "--cards", "2x24GB"],
    fit: [...FULL, "--optimizer", "adamw-8bit", "--card", "48GB", "--host", "192GB"],
    run: {
      command: "full_13b/before/training_system.py --size tiny --batches 32",
      leak: null,
    },
    verify: {
      before: "full_13b/before/training_system.py --size tiny",
      after: "full_13b/after/train.py --size tiny --loss chunked",
    },
    bars: [
      { what: "no slower", before: "full_13b-before", after: "full_13b-after" },
      { what: "steady", run: "full_13b-after" },
      { what: "fits", run: "full_13b-after", card: 48e9 },
      { what: "fits", run: "full_13b-rank", card: 24e9 },
    ],
  },
];
