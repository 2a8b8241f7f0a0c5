import cv2
import torch

# trap: all are cut to one size in the end
torch.backends.cudnn.benchmark = True


class Faces:
    def __init__(self, paths, side):
        self.paths = paths
        self.side = side

    def __iter__(self):
        for path in self.paths:
            image = cv2.imread(path, 0)
            height, width = image.shape[0], image.shape[1]
            image = cv2.resize(image, ((width // 8) * 8, (height // 8) * 8))
            image = self.crop(image)
            yield torch.from_numpy(image)[None, None].float()

    def crop(self, image):
        return image[: self.side, : self.side]


class Films:
    def __init__(self, paths, width):
        self.paths = paths
        self.width = width

    def __iter__(self):
        for path in self.paths:
            # trap: rounded, and the same for all of them
            image = cv2.resize(cv2.imread(path, 0), ((self.width // 8) * 8, 64))
            yield torch.from_numpy(image)[None, None].float()


def train(net, paths, optimizer):
    net.cuda()
    for image in Faces(paths, 256):
        loss = net(image.cuda()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
