import type { Measured } from "./band.ts";

/** Written by bench/bands.ts from evidence/accuracy/families.jsonl, evidence/accuracy/plain-alone.jsonl, evidence/accuracy/plain.jsonl, evidence/accuracy/trainer.jsonl, evidence/methods/runs.jsonl, evidence/parallel/runs.jsonl. */
export const BANDS: Readonly<Record<string, Measured>> = {
  "any": {
    "runs": 238,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0016
    },
    "reserved": {
      "p90": 0.0003,
      "worst": 0.027
    }
  },
  "full": {
    "runs": 103,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0016
    },
    "reserved": {
      "p90": 0.0003,
      "worst": 0.027
    }
  },
  "full, Trainer": {
    "runs": 12,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0052,
      "worst": 0.0052
    }
  },
  "full, Trainer, 8-bit": {
    "runs": 1,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "full, Trainer, adafactor": {
    "runs": 3,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0052,
      "worst": 0.0052
    }
  },
  "full, Trainer, adamw": {
    "runs": 8,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "full, plain loop": {
    "runs": 91,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0016
    },
    "reserved": {
      "p90": 0.0002,
      "worst": 0.027
    }
  },
  "full, plain loop, 8-bit": {
    "runs": 8,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "full, plain loop, adafactor": {
    "runs": 13,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0011
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "full, plain loop, adamw": {
    "runs": 38,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0011
    },
    "reserved": {
      "p90": 0.0003,
      "worst": 0.027
    }
  },
  "full, plain loop, adamw on the host": {
    "runs": 1,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "full, plain loop, adamw, chunked loss": {
    "runs": 3,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0029,
      "worst": 0.0029
    }
  },
  "full, plain loop, adamw, ddp": {
    "runs": 7,
    "allocated": {
      "p90": 0.0024,
      "worst": 0.0024
    },
    "reserved": {
      "p90": 0.066,
      "worst": 0.066
    }
  },
  "full, plain loop, adamw, fsdp2": {
    "runs": 16,
    "allocated": {
      "p90": 0.0013,
      "worst": 0.0019
    },
    "reserved": {
      "p90": 0.0016,
      "worst": 0.0036
    }
  },
  "full, plain loop, adamw, fused loss": {
    "runs": 2,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0031,
      "worst": 0.0031
    }
  },
  "full, plain loop, adamw, optimizer in backward": {
    "runs": 2,
    "allocated": {
      "p90": 0.0016,
      "worst": 0.0016
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "full, plain loop, adamw, tensor": {
    "runs": 4,
    "allocated": {
      "p90": 0.008,
      "worst": 0.008
    },
    "reserved": {
      "p90": 0.0028,
      "worst": 0.0028
    }
  },
  "full, plain loop, lion": {
    "runs": 1,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "full, plain loop, paged adamw": {
    "runs": 1,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "full, plain loop, sgd": {
    "runs": 12,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0004
    },
    "reserved": {
      "p90": 0,
      "worst": 0.0002
    }
  },
  "full, plain loop, sgd momentum": {
    "runs": 10,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0009,
      "worst": 0.0019
    }
  },
  "lora": {
    "runs": 126,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0008
    },
    "reserved": {
      "p90": 0.0002,
      "worst": 0.0113
    }
  },
  "lora, Trainer": {
    "runs": 7,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0002,
      "worst": 0.0002
    }
  },
  "lora, Trainer, adafactor": {
    "runs": 1,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0002,
      "worst": 0.0002
    }
  },
  "lora, Trainer, adamw": {
    "runs": 6,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "lora, plain loop": {
    "runs": 119,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0008
    },
    "reserved": {
      "p90": 0.0002,
      "worst": 0.0113
    }
  },
  "lora, plain loop, adafactor": {
    "runs": 9,
    "allocated": {
      "p90": 0.0008,
      "worst": 0.0008
    },
    "reserved": {
      "p90": 0.0002,
      "worst": 0.0002
    }
  },
  "lora, plain loop, adamw": {
    "runs": 100,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0006
    },
    "reserved": {
      "p90": 0.0002,
      "worst": 0.0113
    }
  },
  "lora, plain loop, adamw, chunked loss": {
    "runs": 1,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0001,
      "worst": 0.0001
    }
  },
  "lora, plain loop, adamw, ddp": {
    "runs": 1,
    "allocated": {
      "p90": 0.0009,
      "worst": 0.0009
    },
    "reserved": {
      "p90": 0.004,
      "worst": 0.004
    }
  },
  "lora, plain loop, adamw, fsdp2": {
    "runs": 2,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "lora, plain loop, adamw, fused loss": {
    "runs": 1,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0001,
      "worst": 0.0001
    }
  },
  "lora, plain loop, sgd": {
    "runs": 5,
    "allocated": {
      "p90": 0.0007,
      "worst": 0.0007
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "lora, plain loop, sgd momentum": {
    "runs": 3,
    "allocated": {
      "p90": 0.0008,
      "worst": 0.0008
    },
    "reserved": {
      "p90": 0,
      "worst": 0
    }
  },
  "qlora": {
    "runs": 9,
    "allocated": {
      "p90": 0.0003,
      "worst": 0.0003
    },
    "reserved": {
      "p90": 0.0206,
      "worst": 0.0206
    }
  },
  "qlora, Trainer": {
    "runs": 1,
    "allocated": {
      "p90": 0.0002,
      "worst": 0.0002
    },
    "reserved": {
      "p90": 0.0008,
      "worst": 0.0008
    }
  },
  "qlora, Trainer, 8-bit": {
    "runs": 1,
    "allocated": {
      "p90": 0.0002,
      "worst": 0.0002
    },
    "reserved": {
      "p90": 0.0008,
      "worst": 0.0008
    }
  },
  "qlora, plain loop": {
    "runs": 8,
    "allocated": {
      "p90": 0.0003,
      "worst": 0.0003
    },
    "reserved": {
      "p90": 0.0206,
      "worst": 0.0206
    }
  },
  "qlora, plain loop, 8-bit": {
    "runs": 2,
    "allocated": {
      "p90": 0.0001,
      "worst": 0.0001
    },
    "reserved": {
      "p90": 0.0206,
      "worst": 0.0206
    }
  },
  "qlora, plain loop, adamw": {
    "runs": 5,
    "allocated": {
      "p90": 0.0003,
      "worst": 0.0003
    },
    "reserved": {
      "p90": 0.0006,
      "worst": 0.0006
    }
  },
  "qlora, plain loop, adamw, chunked loss": {
    "runs": 1,
    "allocated": {
      "p90": 0.0002,
      "worst": 0.0002
    },
    "reserved": {
      "p90": 0.0017,
      "worst": 0.0017
    }
  }
};
