"""What the checks of model libraries share: a forward pass, one training step, and what came of it."""

import zlib

import torch


def parameters(model):
    """Names and shapes as a checksum, and all values."""
    state = list(model.named_parameters())
    text = ";".join(f"{name}{tuple(value.shape)}" for name, value in state)
    values = torch.cat([value.detach().reshape(-1) for _, value in state])
    return {"names": zlib.crc32(text.encode()), "values": values}


def gradients(model):
    found = [p.grad.reshape(-1) for p in model.parameters() if p.grad is not None]
    return {"count": len(found), "values": torch.cat(found)}


def step(model, loss_of, lr=0.01):
    """Initial values, output in evaluation mode, loss and gradients of one training step, output after it.

    loss_of(model) gives (loss, output).
    """
    result = {"initial": parameters(model)}
    model.eval()
    with torch.no_grad():
        result["output"] = loss_of(model)[1]
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    optimizer.zero_grad()
    loss, _ = loss_of(model)
    loss.backward()
    result["loss"] = loss
    result["gradients"] = gradients(model)
    optimizer.step()
    model.eval()
    with torch.no_grad():
        result["output after"] = loss_of(model)[1]
    return result
