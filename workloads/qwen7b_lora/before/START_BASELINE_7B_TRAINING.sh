#!/bin/bash
# Clears the card, sets the allocator, starts the baseline.
export PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:128,expandable_segments:True"
export TOKENIZERS_PARALLELISM=false
export OMP_NUM_THREADS=4

python3 -c "
import gc, torch
if torch.cuda.is_available():
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    gc.collect()
"
python3 "$(dirname "$0")/train_baseline.py" "$@"
