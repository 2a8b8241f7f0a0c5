#!/bin/bash
# Records the workloads at full size on a CUDA machine, one after the other on the card (others import meanwhile).
#
#   workloads/record.sh OUT FIXED [NAME…]
#
# FIXED is a copy of workloads/ after
#   plimsoll audit FIXED/qat_gpt2/before --fix
#   plimsoll audit FIXED/phi4_lora/before --fix --unsafe-fixes
# Needs torch, transformers, peft, accelerate, bitsandbytes and liger-kernel. Writes OUT/NAME.json and OUT/NAME.log.
OUT=$1 FIXED=$2
shift 2
WANTED=" $* "
HERE=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$OUT"
export PYTHONUNBUFFERED=1 HF_HUB_OFFLINE=1 TOKENIZERS_PARALLELISM=false
# Pinning tens of GB of host memory takes as long as several steps; eight threads make it bearable.
PINNED=pinned_use_cuda_host_register:True,pinned_num_register_threads:8

record() {
  local name=$1
  shift
  [[ "$WANTED" == "  " || "$WANTED" == *" $name "* ]] || return
  while [ "$(jobs -rp | wc -l)" -ge 3 ]; do wait -n; done
  (
    timeout 300 python3 "$@" --measure "$OUT/$name.json" >"$OUT/$name.log" 2>&1
    echo "$name: exit $? after ${SECONDS} s"
  ) &
}
T=(--turn "$OUT/turn")

record full_13b-before "$HERE/full_13b/before/training_system.py" --batches 96 "${T[@]}"
PYTORCH_CUDA_ALLOC_CONF=$PINNED record full_13b-after "$HERE/full_13b/after/train.py" \
  --batches 12 --cap-gb 47.5 "${T[@]}"
PYTORCH_CUDA_ALLOC_CONF=$PINNED record full_13b-least "$HERE/full_13b/after/train.py" \
  --micro-batch 1 --accumulation 4 --batches 16 --cap-gb 47.5 "${T[@]}"
record full_13b-rank "$HERE/full_13b/after/train.py" --spread fsdp2 --fake-ranks 2 --micro-batch 1 --accumulation 1 \
  --batches 3 --cap-gb 23.5 "${T[@]}"
record qwen7b_lora-before "$HERE/qwen7b_lora/before/train_baseline.py" --accumulation 4 --steps 4 "${T[@]}"
PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True record qwen7b_lora-after "$HERE/qwen7b_lora/after/train_baseline.py" --accumulation 4 --steps 5 --cap-gb 23.5 "${T[@]}"
record qwen7b_lora-ladder "$HERE/qwen7b_lora/after/train_baseline.py" --from plain --accumulation 2 --steps 2 --cap-gb 23.5 "${T[@]}"
record phi4_lora-before "$HERE/phi4_lora/before/src/main.py" train.steps=6 "${T[@]}"
record phi4_lora-after "$FIXED/phi4_lora/before/src/main.py" train.steps=6 train.loss=fused model.autocast_adapters=true \
  model.gradient_checkpointing=true model.checkpoint_every=3 model.use_cache=false --cap-gb 47.5 "${T[@]}"
record lslora-before "$HERE/lslora/before/train_lslora.py" --steps 6 "${T[@]}"
record lslora-after "$HERE/lslora/after/train_lslora.py" --steps 6 --loss fused --cap-gb 11.5 "${T[@]}"
record lslora-4bit "$HERE/lslora/after/train_lslora.py" --steps 4 --loss fused --base 4bit "${T[@]}"
record lslora-regulariser "$HERE/lslora/regulariser.py" "${T[@]}"
record qat_gpt2-before "$HERE/qat_gpt2/before/train_qat.py" --steps 100 "${T[@]}"
record qat_gpt2-after "$FIXED/qat_gpt2/before/train_qat.py" --steps 100 "${T[@]}"
record qat_gpt2-on-demand "$FIXED/qat_gpt2/before/train_qat.py" --steps 30 --on-demand "${T[@]}"
wait
[[ "$WANTED" == "  " || "$WANTED" == *" qat_gpt2-pairs "* ]] &&
  python3 "$HERE/qat_gpt2/pairs.py" "$HERE/qat_gpt2/before" "$FIXED/qat_gpt2/before" --measure "$OUT/qat_gpt2-pairs.json"
