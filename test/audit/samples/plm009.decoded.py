import torch.nn.functional as F


def listen(encoder, decoder, decode, criterion, loader, optimizer):
    for sounds, labels, sizes, counts in loader:
        outputs = encoder(sounds.cuda())
        outputs = decoder(outputs)  # expect: PLM009
        loss = criterion(F.log_softmax(outputs, dim=-1).transpose(0, 1), labels, sizes, counts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(decode(outputs.detach()))


def clear(encoder, decoder, decode, criterion, loader, optimizer):
    for sounds, labels, sizes, counts in loader:
        outputs = encoder(sounds.cuda())
        # trap: gone before the next forward
        outputs = decoder(outputs)
        loss = criterion(F.log_softmax(outputs, dim=-1).transpose(0, 1), labels, sizes, counts)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(decode(outputs.detach()))
        del outputs


def sort(encoder, decoder, criterion, loader, optimizer):
    for images, labels in loader:
        outputs = encoder(images.cuda())
        # trap: a row for each example
        outputs = decoder(outputs)
        loss = criterion(outputs, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(outputs.argmax(1).sum().item())


def probe(model, linear_classifier, criterion, loader, optimizer, num_labels):
    for images, labels in loader:
        output = model(images.cuda())
        # trap: a row for each example, on top of another network
        output = linear_classifier(output)
        loss = criterion(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
