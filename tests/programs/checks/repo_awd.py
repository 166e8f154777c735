"""awd-lstm-lm: embedding and locked dropout, the LSTM language model, its batches"""

import torch
from repositories import on_path

PACKAGES = ()
REPOSITORY = "salesforce/awd-lstm-lm@1d466ec5875675ca6b6f0caacbb741240a29da9e"


def dropouts():
    with on_path("awd-lstm-lm"):
        from embed_regularize import embedded_dropout
        from locked_dropout import LockedDropout
        from utils import batchify, get_batch, repackage_hidden
    embed = torch.nn.Embedding(20, 6, padding_idx=3)
    ids = torch.randint(0, 20, (5, 2))
    x = embedded_dropout(embed, ids, dropout=0.3)
    y = LockedDropout()(x, 0.4)
    y.square().sum().backward()
    lstm = torch.nn.LSTM(6, 4)
    _, hidden = lstm(y.detach())
    args = type("Args", (), {"bptt": 4, "cuda": False})
    data, target = get_batch(batchify(torch.arange(23), 3, args), 2, args)
    return [
        x,
        y,
        embed.weight.grad,
        list(repackage_hidden(hidden)),
        data,
        target,
        repackage_hidden(hidden)[0].requires_grad,
    ]


def model():
    with on_path("awd-lstm-lm"):
        from model import RNNModel

        net = RNNModel("LSTM", 20, 8, 10, 2, 0.1, 0.1, 0.1, 0.1, 0.0, True)
        hidden = net.init_hidden(2)
        output, hidden, raw, dropped = net(torch.randint(0, 20, (5, 2)), hidden, return_h=True)
        output.square().mean().backward()
    return [output, list(raw), list(dropped), net.encoder.weight.grad]


CASES = {"dropouts": dropouts, "model": model}
