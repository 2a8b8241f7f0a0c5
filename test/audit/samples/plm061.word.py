import torch

dtype = "bfloat16"
half = "float16"
types = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
context = torch.amp.autocast(device_type="cuda", dtype=types[dtype])
scaler = torch.cuda.amp.GradScaler(enabled=(dtype != "float32"))  # expect: PLM061
# trap: off unless float16 is asked for
right = torch.cuda.amp.GradScaler(enabled=(dtype == "float16"))
# trap: float16 needs it
needed = torch.cuda.amp.GradScaler(enabled=(half != "float32"))
# trap: for float16 alone
listed = torch.cuda.amp.GradScaler(enabled=dtype in ("float16", "fp16"))
