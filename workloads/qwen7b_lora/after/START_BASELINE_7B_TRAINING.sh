#!/bin/bash
# Checks the machine, sets the allocator, starts the baseline.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
# Expandable segments alone: max_split_size_mb only limits blocks that these do away with.
export PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True"
export TOKENIZERS_PARALLELISM=false

# Does the card have room for this, is somebody else on it, is the environment sound?
plimsoll preflight "$here/config/config.py" --loss fused --autocast-adapters --alloc-conf "$PYTORCH_CUDA_ALLOC_CONF"
exec python3 "$here/train_baseline.py" "$@"
