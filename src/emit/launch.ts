import type { Emitter } from "./emitter.ts";

const prelude =
  "# Settings that must be there before CUDA starts.\nset -a\n[ -f plimsoll.env ] && . ./plimsoll.env\nset +a\n";

/** torchrun's: of a node that is alone, or of several that meet at the first. */
const rendezvous = (nodes: number): string =>
  nodes === 1
    ? "--standalone"
    : `--nnodes ${nodes} --rdzv_backend c10d --rdzv_endpoint "${"${HEAD_NODE:?the first node, the same on all}"}:29500"`;

export const launch: Emitter = {
  name: "launch",
  summary: "launch lines: python or torchrun, accelerate, SLURM",
  loop: null,
  cannot: () => null,
  files: ({ parallel: { ranks, nodes = 1, replicas = 1 } }) => {
    const each = (ranks * replicas) / nodes;
    const line =
      ranks === 1
        ? '# One card: no launcher.\nexec python train.py "$@"'
        : `# One process a card.\nexec torchrun ${rendezvous(nodes)} --nproc_per_node ${each} train.py "$@"`;
    return [
      {
        name: "launch.sh",
        text: `#!/bin/sh\n# Written by plimsoll fit. Usage: sh launch.sh DATASET\nset -e\n${prelude}${line}\n`,
      },
      {
        name: "launch-accelerate.sh",
        text: `#!/bin/sh\n# Written by plimsoll fit. Usage: sh launch-accelerate.sh DATASET\nset -e\n${prelude}# How the run is spread is in the file.\nexec accelerate launch --config_file accelerate.yaml train.py "$@"\n`,
      },
      {
        name: "job.slurm",
        text: [
          "#!/bin/sh",
          "# Written by plimsoll fit. Usage: sbatch job.slurm DATASET",
          nodes > 1 ? "# Each has the same cards." : "# One node has all the cards of this run.",
          `#SBATCH --nodes=${nodes}`,
          "# The launcher starts the other processes itself.",
          "#SBATCH --ntasks-per-node=1",
          nodes > 1 ? "# Cards of a node." : "# Cards.",
          `#SBATCH --gres=gpu:${each}`,
          "# Cores for data loading, and for an optimizer in host memory.",
          `#SBATCH --cpus-per-task=${8 * each}`,
          ...(nodes > 1
            ? [
                "# Where the nodes meet: the first of them.",
                'export HEAD_NODE="$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)"',
              ]
            : []),
          'exec srun sh launch.sh "$@"',
          "",
        ].join("\n"),
      },
    ];
  },
};
