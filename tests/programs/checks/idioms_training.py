"""Idioms of training loops: accumulation, precision, averages, resuming, data loading, stopping, mixup"""

import copy
import io
import math

import torch
from torch import nn
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    Sampler,
    Subset,
    TensorDataset,
    WeightedRandomSampler,
    get_worker_info,
    random_split,
)

PACKAGES = ()


def network():
    return nn.Sequential(
        nn.Linear(6, 16, bias=False),
        nn.BatchNorm1d(16),
        nn.GELU(),
        nn.Dropout(0.2),
        nn.Linear(16, 3),
    )


def points(count=48):
    x = torch.randn(count, 6)
    return TensorDataset(x, (x[:, :3] * 2).argmax(1))


def accumulation():
    net, loader = network(), DataLoader(points(), batch_size=8, shuffle=True, drop_last=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.2, total_steps=8)
    losses = []
    for _ in range(2):
        for index, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(net(x), y) / 2
            loss.backward()
            if index % 2:
                norm = nn.utils.clip_grad_norm_(net.parameters(), 0.5, error_if_nonfinite=True)
                optimizer.step()
                optimizer.zero_grad()
                schedule.step()
                losses.append([loss, norm, schedule.get_last_lr()[0]])
    nn.functional.cross_entropy(net(x), y).backward()
    nn.utils.clip_grad_value_(net.parameters(), 0.01)
    return [losses, [p.grad for p in net.parameters()]]


def mixed_precision():
    net = network()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    x, y = points()[:]
    losses = []
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = net(x)
            loss = nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
    scales = []
    for index in range(4):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        if index == 2:
            loss = loss * math.inf
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return [losses, str(out.dtype), str(net[0].weight.grad.dtype), scales]


def averages():
    net = network()
    swa = torch.optim.swa_utils.AveragedModel(net)
    ema = torch.optim.swa_utils.AveragedModel(
        net, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9), use_buffers=True
    )
    own = copy.deepcopy(net).requires_grad_(False)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    swa_schedule = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.01, anneal_epochs=2)
    data = points()
    for _ in range(5):
        x, y = data[:]
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        swa_schedule.step()
        swa.update_parameters(net)
        ema.update_parameters(net)
        with torch.no_grad():
            for a, b in zip(own.parameters(), net.parameters(), strict=True):
                a.lerp_(b, 0.1)
    torch.optim.swa_utils.update_bn(DataLoader(data, batch_size=16), swa)
    probe = torch.randn(4, 6)
    return [
        swa.eval()(probe),
        ema.eval()(probe),
        own.eval()(probe),
        optimizer.param_groups[0]["lr"],
        swa.n_averaged,
    ]


def resume():
    """Stopped in the middle and started again from a file, the run ends with the same bits."""

    def build():
        net = network()
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, amsgrad=True)
        return net, optimizer, torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 3)

    def steps(net, optimizer, schedule, count):
        for _ in range(count):
            x = torch.randn(8, 6)
            loss = nn.functional.cross_entropy(net(x), (x[:, :3]).argmax(1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        return loss

    parts = build()
    steps(*parts, 5)
    file = io.BytesIO()
    torch.save({"parts": [part.state_dict() for part in parts], "rng": torch.get_rng_state()}, file)
    straight = steps(*parts, 5)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    again = build()
    for part, values in zip(again, state["parts"], strict=True):
        part.load_state_dict(values)
    torch.set_rng_state(state["rng"])
    resumed = steps(*again, 5)
    same = all(
        torch.equal(a, b)
        for a, b in zip(parts[0].state_dict().values(), again[0].state_dict().values(), strict=True)
    )
    return [straight, resumed, same, again[2].get_last_lr(), sorted(state["parts"][1])]


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return {"x": torch.full((index % 3 + 1,), float(index)), "name": f"n{index}", "id": index}


class Counter(IterableDataset):
    def __init__(self, end):
        self.end = end

    def __iter__(self):
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        return iter(range(first, self.end, step))


class ByLength(Sampler):
    def __init__(self, data):
        self.data = data

    def __iter__(self):
        return iter(sorted(range(len(self.data)), key=lambda i: (i % 3, i)))

    def __len__(self):
        return len(self.data)


def pad(items):
    width = max(len(item["x"]) for item in items)
    x = torch.stack([nn.functional.pad(item["x"], (0, width - len(item["x"]))) for item in items])
    return x, [item["name"] for item in items]


def seed_worker(index):
    torch.manual_seed(100 + index)


def loading():
    data = Squares(11)
    custom = list(DataLoader(data, batch_size=4, sampler=ByLength(data), collate_fn=pad))
    batches = list(
        DataLoader(
            data,
            batch_sampler=BatchSampler(ByLength(data), 3, True),
            collate_fn=lambda b: [i["id"] for i in b],
        )
    )
    workers = [b.tolist() for b in DataLoader(Counter(10), batch_size=3, num_workers=2)]
    shuffled = [
        b["id"].tolist()
        for b in DataLoader(
            Subset(data, range(0, 9, 3)), batch_size=2, shuffle=True, num_workers=2, worker_init_fn=seed_worker,
            generator=torch.Generator().manual_seed(5), persistent_workers=True, prefetch_factor=2,
        )
    ]  # fmt: skip
    first, second = random_split(range(10), [0.7, 0.3], generator=torch.Generator().manual_seed(1))
    weighted = list(WeightedRandomSampler([0.1, 0.9, 3.0], 8))
    joined = ConcatDataset([points(3), points(4)])
    named = next(iter(DataLoader([{"a": (1, 2.5), "b": ["u", torch.ones(2)]}] * 2, batch_size=2)))
    return [
        custom,
        batches,
        workers,
        shuffled,
        list(first),
        list(second),
        weighted,
        len(joined),
        joined[5][0],
        named["a"],
        named["b"],
        len(DataLoader(data, batch_size=4, drop_last=True)),
        [int(b) for b in DataLoader(range(3), batch_size=None)],
    ]


def early_stopping():
    net, data = network(), points()
    train, held = Subset(data, range(32)), Subset(data, range(32, 48))
    optimizer = torch.optim.RMSprop(net.parameters(), lr=0.02)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=1)
    best, state, history = math.inf, None, []
    for _ in range(8):
        net.train()
        for x, y in DataLoader(train, batch_size=8, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        net.eval()
        with torch.inference_mode():
            x, y = next(iter(DataLoader(held, batch_size=16)))
            loss = nn.functional.cross_entropy(net(x), y).item()
        plateau.step(loss)
        if loss < best:
            best, state = loss, copy.deepcopy(net.state_dict())
        history.append([loss, optimizer.param_groups[0]["lr"]])
    net.load_state_dict(state)
    return [history, best, net.eval()(torch.ones(1, 6))]


def mixing():
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(4, 5),
    )
    images, labels = torch.rand(6, 3, 8, 8), torch.randint(0, 5, (6,))
    share = torch.distributions.Beta(0.8, 0.8).sample()
    order = torch.randperm(6)
    mixed = share * images + (1 - share) * images[order]
    hot = nn.functional.one_hot(labels, 5).float()
    target = share * hot + (1 - share) * hot[order]
    loss = nn.functional.cross_entropy(net(mixed), target, label_smoothing=0.1)
    cut = images.clone()
    cut[:, :, 2:6, 3:7] = images[order, :, 2:6, 3:7]
    second = torch.stack(
        [
            nn.functional.cross_entropy(net(cut), t, reduction="none")
            for t in (labels, labels[order])
        ]
    )
    (loss + (second * torch.tensor([[0.75], [0.25]])).sum(0).mean()).backward()
    flipped = torch.where(torch.rand(6, 1, 1, 1) < 0.5, images.flip(-1), images)
    return [share, mixed, loss, second, [p.grad for p in net.parameters()], flipped]


def rate_finder():
    net, data = network(), points()
    optimizer = torch.optim.SGD(
        [{"params": net[0].parameters()}, {"params": net[4].parameters(), "lr": 1e-3}], lr=1e-4
    )
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=3)
    then = torch.optim.lr_scheduler.ExponentialLR(optimizer, 1.5)
    chain = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, then], milestones=[3])
    curve = []
    for x, y in DataLoader(data, batch_size=6):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        chain.step()
        curve.append([loss, [group["lr"] for group in optimizer.param_groups]])
    own = torch.optim.lr_scheduler.LambdaLR(optimizer, [lambda e: 0.9**e, lambda e: 1 / (e + 1)])
    own.step()
    optimizer.add_param_group({"params": net[1].parameters(), "lr": 0.5})
    return [
        curve,
        own.get_last_lr(),
        len(optimizer.param_groups),
        str(optimizer),
        chain.state_dict()["_milestones"],
    ]


def recurrent():
    """Packed sequences, hidden state carried between pieces and cut off."""
    net, out = nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True, dropout=0.1), nn.Linear(10, 2)
    x, lengths = torch.randn(3, 7, 4), torch.tensor([7, 3, 5])
    packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
    result, (h, c) = net(packed)
    padded, sizes = nn.utils.rnn.pad_packed_sequence(result, batch_first=True)
    mask = torch.arange(7)[None] < lengths[:, None]
    loss = (out(padded) * mask[..., None]).square().sum() / mask.sum()
    loss.backward()
    cell, hidden = nn.GRU(4, 5), None
    losses = []
    for piece in torch.randn(9, 2, 4).split(3):
        hidden = hidden.detach() if hidden is not None else None
        y, hidden = cell(piece, hidden)
        y.square().mean().backward()
        losses.append(y)
    return [padded, sizes, h, c, loss, net.weight_hh_l0.grad, losses, cell.weight_ih_l0.grad]


CASES = {
    f.__name__: f
    for f in (
        accumulation,
        mixed_precision,
        averages,
        resume,
        loading,
        early_stopping,
        mixing,
        rate_finder,
        recurrent,
    )
}
