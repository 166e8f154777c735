"""an Accelerator's training loop with accumulation and clipping, state files, big-model helpers"""

import tempfile

import torch
from accelerate import Accelerator, init_empty_weights, load_checkpoint_and_dispatch
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset

PACKAGES = ("accelerate",)


def training():
    set_seed(4)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    x = torch.randn(40, 6)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=5, shuffle=True)
    model = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, 10)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    losses = []
    for _ in range(3):
        for inputs, target in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.mse_loss(model(inputs), target)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()).item())
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)
        before = [p.clone() for p in model.parameters()]
        with torch.no_grad():
            model[0].weight.zero_()
        accelerator.load_state(folder)
        same = all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    unwrapped = accelerator.unwrap_model(model)
    return [torch.tensor(losses), same, unwrapped.state_dict(), accelerator.device.type]


def empty_weights():
    with init_empty_weights():
        empty = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4))
    devices = sorted({p.device.type for p in empty.parameters()})
    real = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.LayerNorm(4))
    with tempfile.TemporaryDirectory() as folder:
        torch.save(real.state_dict(), f"{folder}/pytorch_model.bin")
        loaded = load_checkpoint_and_dispatch(empty, folder, device_map={"": "cpu"})
    return [devices, loaded(torch.ones(2, 4))]


CASES = {"training": training, "empty_weights": empty_weights}
