import type { OptimizerName } from "../../optimizers/optimizers.ts";
import type { Recipe } from "../../plan/recipe.ts";
import { optimizerWhy } from "../settings.ts";

/** What makes each optimizer: torch 2.13, transformers 5.17, bitsandbytes 0.50, torchao 0.18. */
interface Maker {
  readonly name: string;
  readonly more: string;
  readonly import: string | null;
}

const torch = (name: string, more: string): Maker => ({ name: `torch.optim.${name}`, more, import: null });
const bitsandbytes = (name: string): Maker => ({
  name: `bitsandbytes.optim.${name}`,
  more: "",
  import: "import bitsandbytes",
});

const MAKERS: Readonly<Record<OptimizerName, Maker>> = {
  adamw_fused: torch("AdamW", ", fused=True"),
  adamw_foreach: torch("AdamW", ", foreach=True"),
  adamw_loop: torch("AdamW", ", foreach=False"),
  sgd: torch("SGD", ""),
  sgd_momentum: torch("SGD", ", momentum=0.9"),
  adamw_bnb_8bit: bitsandbytes("AdamW8bit"),
  paged_adamw: bitsandbytes("PagedAdamW32bit"),
  paged_adamw_8bit: bitsandbytes("PagedAdamW8bit"),
  lion: bitsandbytes("Lion32bit"),
  lion_8bit: bitsandbytes("Lion8bit"),
  adamw_torchao_8bit: {
    name: "torchao.optim.AdamW8bit",
    more: "",
    import: "import torchao.optim",
  },
  adafactor: {
    name: "Adafactor",
    more: ", relative_step=False, scale_parameter=False",
    import: "from transformers import Adafactor",
  },
};

/** How a script steps: what it sets up, and what it does after backward. */
export interface Stepping {
  readonly import: string | null;
  readonly setup: readonly string[];
  readonly step: readonly string[];
}

export function stepping(recipe: Recipe): Stepping {
  const { name, more, import: line } = MAKERS[recipe.optimizer];
  const make = (parameters: string): string => `${name}(${parameters}, lr=LEARNING_RATE${more})`;
  const clip = recipe.clip ? ["torch.nn.utils.clip_grad_norm_(trained, 1.0)"] : [];
  const { setup, step } = recipe.optimizerInBackward
    ? recipe.optimizerOnHost
      ? onHostInBackward(make)
      : inBackward(make)
    : recipe.optimizerOnHost
      ? onHost(make)
      : {
          setup: [`# ${optimizerWhy(recipe)}`, `optimizer = ${make("trained")}`],
          step: ["optimizer.step()", "optimizer.zero_grad()"],
        };
  return { import: line, setup, step: [...clip, ...step] };
}

type Make = (parameters: string) => string;

const inBackward = (make: Make): Omit<Stepping, "import"> => ({
  setup: [
    "# One optimizer a weight, stepped as soon as its gradient is complete: gradients never exist together.",
    `optimizers = {p: ${make("[p]")} for p in trained}`,
    "",
    "",
    "def step_now(p):",
    "    optimizers[p].step()",
    "    optimizers[p].zero_grad()",
    "",
    "",
    "for p in trained:",
    "    p.register_post_accumulate_grad_hook(step_now)",
  ],
  step: [],
});

/** Pinned, so that the card's copies run at the link's speed. */
const HOST_COPY = [
  "def host_copy(p):",
  '    """The weight in host memory, with room for its gradient."""',
  '    copy = torch.empty_like(p, device="cpu", pin_memory=DEVICE == "cuda", requires_grad=False)',
  "    copy.copy_(p.detach())",
  '    copy.grad = torch.empty_like(copy, pin_memory=DEVICE == "cuda")',
  "    return copy",
  "",
  "",
];

const onHost = (make: Make): Omit<Stepping, "import"> => ({
  setup: [
    ...HOST_COPY,
    "# The optimizer's state and a copy of each trained weight are in host memory, and the step is taken there.",
    "copies = {p: host_copy(p) for p in trained}",
    `optimizer = ${make("list(copies.values())")}`,
    "",
    "",
    "@torch.no_grad()",
    "def step_on_host():",
    "    for p, copy in copies.items():",
    "        copy.grad.copy_(p.grad, non_blocking=True)",
    "    # The copies above may still be under way.",
    '    if DEVICE == "cuda":',
    "        torch.cuda.synchronize()",
    "    optimizer.step()",
    "    for p, copy in copies.items():",
    "        p.copy_(copy, non_blocking=True)",
    "        p.grad = None",
  ],
  step: ["step_on_host()"],
});

const onHostInBackward = (make: Make): Omit<Stepping, "import"> => ({
  setup: [
    ...HOST_COPY,
    "# Each weight is stepped in host memory as soon as its gradient is complete; the gradient is then dropped.",
    "copies = {p: host_copy(p) for p in trained}",
    `optimizers = {p: ${make("[copy]")} for p, copy in copies.items()}`,
    "",
    "",
    "@torch.no_grad()",
    "def step_now(p):",
    "    copies[p].grad.copy_(p.grad)",
    "    p.grad = None",
    "    optimizers[p].step()",
    "    p.copy_(copies[p])",
    "",
    "",
    "for p in trained:",
    "    p.register_post_accumulate_grad_hook(step_now)",
  ],
  step: [],
});
