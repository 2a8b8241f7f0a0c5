import type { Emitter } from "./emitter.ts";

const prelude =
  "# Settings that must be there before CUDA starts.\nset -a\n[ -f plimsoll.env ] && . ./plimsoll.env\nset +a\n";

export const launch: Emitter = {
  name: "launch",
  summary: "launch lines: python or torchrun, accelerate, SLURM",
  loop: null,
  cannot: () => null,
  files: ({ parallel: { ranks } }) => {
    const line =
      ranks === 1
        ? '# One card: no launcher.\nexec python train.py "$@"'
        : `# One process a card.\nexec torchrun --standalone --nproc_per_node ${ranks} train.py "$@"`;
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
          "# One node has all the cards of this run.",
          "#SBATCH --nodes=1",
          "# The launcher starts the other processes itself.",
          "#SBATCH --ntasks-per-node=1",
          "# Cards.",
          `#SBATCH --gres=gpu:${ranks}`,
          "# Cores for data loading, and for an optimizer in host memory.",
          `#SBATCH --cpus-per-task=${8 * ranks}`,
          'exec srun sh launch.sh "$@"',
          "",
        ].join("\n"),
      },
    ];
  },
};
