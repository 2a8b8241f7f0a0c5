from nets import read
from peft import PeftModel
from torch.utils.data import DataLoader
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained("base")
model = PeftModel.from_pretrained(model, "adapter").cuda()
model.eval()
right = 0
for batch in DataLoader(read(), batch_size=8, num_workers=4, pin_memory=True):
    # trap: whoever loads an adapter to use it has all frozen
    logits = model(batch["ids"].cuda(non_blocking=True)).logits
    right += (logits.argmax(-1).cpu() == batch["labels"]).sum().item()
