from transformers import (
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    Trainer,
    TrainingArguments,
)

train, evaluation = load()

# trap: no metrics, so that only losses are kept
args = Seq2SeqTrainingArguments("plain", evaluation_strategy="epoch")
model = AutoModelForSeq2SeqLM.from_pretrained("t5-small")
trainer = Seq2SeqTrainer(model=model, args=args, train_dataset=train, eval_dataset=evaluation)

args = Seq2SeqTrainingArguments("scored", evaluation_strategy="epoch")  # expect: PLM055
trainer = Seq2SeqTrainer(
    model=model, args=args, train_dataset=train, eval_dataset=evaluation, compute_metrics=rouge
)
