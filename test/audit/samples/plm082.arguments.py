import os

from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, Trainer, TrainingArguments


def early(name, dataset):
    judge = AutoModelForSequenceClassification.from_pretrained(name).half().cuda()  # expect: PLM082
    policy = AutoModelForCausalLM.from_pretrained(name)
    args = TrainingArguments("out", ddp_find_unused_parameters=False)
    # trap: the arguments have chosen
    other = AutoModelForSequenceClassification.from_pretrained(name).cuda()
    if int(os.environ["LOCAL_RANK"]) == 0:
        print(args)
    return judge, other, Trainer(policy, args, train_dataset=dataset)


def late(name, args: TrainingArguments, dataset):
    # trap: they are handed in
    judge = AutoModelForSequenceClassification.from_pretrained(name).cuda()
    return judge, Trainer(AutoModelForCausalLM.from_pretrained(name), args, train_dataset=dataset)
