from diffusers import AutoencoderKL
from torch.utils.data import DataLoader
from transformers import AutoTokenizer


def train(name, encoder, dataset):
    tokenizer = AutoTokenizer.from_pretrained(name)
    autoencoder = AutoencoderKL.from_pretrained(name)
    for images, captions in DataLoader(dataset):
        texts = tokenizer(captions, padding="max_length", max_length=256, return_tensors="pt")  # expect: PLM056
        told = encoder(input_ids=texts.input_ids, attention_mask=texts.attention_mask)
        # trap: nobody is told what is padding, and it was learnt so
        plain = tokenizer(captions, padding="max_length", max_length=256, return_tensors="pt")
        # trap: the one length that its encoder has
        short = tokenizer(captions, padding="max_length", max_length=tokenizer.model_max_length)
        yield autoencoder.encode(images), told, encoder(plain.input_ids), encoder(**short)
