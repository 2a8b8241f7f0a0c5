"""Scores of words that are packed, and what is computed of an output on the way to its loss."""

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence


def captions(decoder, loader, optimizer):
    for pictures, words, lengths in loader:
        scores, ordered, kept = decoder(pictures.cuda(), words.cuda(), lengths)
        scores = pack_padded_sequence(scores, kept, batch_first=True)[0]  # expect: PLM009
        chances = torch.softmax(scores, dim=1)  # expect: PLM009
        # trap: a number for each word
        targets = pack_padded_sequence(ordered[:, 1:], kept, batch_first=True)[0]
        loss = F.cross_entropy(scores, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(accuracy(chances, targets, 5))


def lengths_only(encoder, head, loader, optimizer):
    for sounds, labels, lengths in loader:
        # trap: the input is packed, and one row an example comes out
        packed = pack_padded_sequence(sounds.cuda(), lengths, batch_first=True)
        rows = head(encoder(packed)[1])
        loss = F.cross_entropy(rows, labels.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(accuracy(rows, labels, 1))


def voices(net, loader, optimizer):
    """Source separation: a waveform in, a waveform out."""
    for noisy, clean in loader:
        enhanced = net(noisy.cuda())  # expect: PLM009
        spectrum = torch.stft(enhanced.squeeze(1), 512, return_complex=True).abs()
        wanted = torch.stft(clean.cuda().squeeze(1), 512, return_complex=True).abs()
        loss = F.l1_loss(enhanced, clean.cuda()) + F.l1_loss(spectrum, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def stored(net, loader, optimizer, shelf):
    for noisy, clean in loader:
        # trap: what is computed of it is kept by somebody
        enhanced = net(noisy.cuda())
        spectrum = torch.stft(enhanced.squeeze(1), 512, return_complex=True).abs()
        shelf.put(spectrum)
        loss = F.l1_loss(enhanced, clean.cuda())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
