import type { Emitter } from "./emitter.ts";

export const env: Emitter = {
  name: "env",
  summary: "environment variables",
  loop: null,
  cannot: () => null,
  files: ({ allocConf }) => [
    {
      name: "plimsoll.env",
      text: [
        "# Written by plimsoll fit. Usage: set -a; . ./plimsoll.env; set +a",
        ...(allocConf === ""
          ? ["# PYTORCH_CUDA_ALLOC_CONF is left as it is: the plan is of the allocator's defaults."]
          : [
              "# The caching allocator as planned; read once, when CUDA starts.",
              `PYTORCH_CUDA_ALLOC_CONF=${allocConf}`,
            ]),
        "# Tokenizers that were used before a data loader forks would warn and switch this off by themselves.",
        "TOKENIZERS_PARALLELISM=false",
        "# Each process would otherwise start a thread for every core.",
        "OMP_NUM_THREADS=8",
        "",
      ].join("\n"),
    },
  ],
};
