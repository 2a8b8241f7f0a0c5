import torch

from features import extract_features, load_image


class PairFolder:
    def __init__(self, paths, cache=False):
        self.images = {}
        self.pairs = []
        self.sizes = []
        for path in paths:
            self.images[path] = load_image(path)  # likely: PLM040
        for path in paths:
            feature = extract_features(path)
            self.pairs.append((path, feature))  # likely: PLM040
        for path in paths:
            # trap: measured, and let go
            self.sizes.append(load_image(path).shape[0])
        # trap: one for each of a few kinds
        self.marks = [load_image(kind) for kind in ("on", "off")]
        if cache:
            # trap: asked for
            self.fill()

    def fill(self):
        self.filled = []
        for path, _ in self.pairs:
            self.filled.append(extract_features(path))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, at):
        return torch.as_tensor(self.images[self.pairs[at][0]])


class SpeechData:
    def __init__(self, folders, speech):
        self.index = []
        for folder in list(folders):
            with (folder / "all.txt").open() as lines:
                for line in lines:
                    info = speech.load_audio(str(folder / line.split()[0]))
                    # trap: paths, texts and lengths
                    self.index.append({"path": str(folder / line), "length": info.num_frames / info.sample_rate})

    def __getitem__(self, at):
        return self.index[at]
