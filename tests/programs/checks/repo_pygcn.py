"""pygcn: its graph network on a sparse adjacency matrix made by its own normalisation"""

import numpy as np
import scipy.sparse as sp
import torch
from repositories import load

PACKAGES = ("scipy",)
REPOSITORY = "tkipf/pygcn@1600b5b748b3976413d1e307540ccc62605b4d6d"


def train():
    models = load("pygcn.models", "pygcn")
    utils = load("pygcn.utils", "pygcn")
    generator = np.random.RandomState(0)
    links = sp.coo_matrix(generator.rand(60, 60) < 0.06).astype(np.float32)
    links = links + links.T.multiply(links.T > links) - links.multiply(links.T > links)
    adjacency = utils.sparse_mx_to_torch_sparse_tensor(utils.normalize(links + sp.eye(60)))
    features = torch.from_numpy(generator.rand(60, 14).astype(np.float32))
    labels = torch.from_numpy(generator.randint(0, 4, 60))
    model = models.GCN(14, 16, 4, 0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    losses = []
    for _ in range(15):
        model.train()
        optimizer.zero_grad()
        output = model(features, adjacency)
        loss = torch.nn.functional.nll_loss(output[:40], labels[:40])
        loss.backward()
        optimizer.step()
        losses.append([loss, utils.accuracy(output, labels)])
    return [losses, model.eval()(features, adjacency), str(model)]


CASES = {"train": train}
