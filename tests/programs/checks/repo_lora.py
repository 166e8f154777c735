"""loralib: low-rank linear, merged, embedding and convolution layers: training, merging by train() and eval(), files"""

import io

import torch
from repositories import on_path

PACKAGES = ()
REPOSITORY = "microsoft/LoRA@c4593f060e6a368d7bb5af5273b8e42810cdef90"


class Net(torch.nn.Module):
    def __init__(self, lora):
        super().__init__()
        self.embed = lora.Embedding(20, 12, r=2)
        self.qkv = lora.MergedLinear(12, 36, r=2, enable_lora=[True, False, True], lora_dropout=0.1)
        self.conv = lora.Conv2d(36, 8, 3, r=2, padding=1)
        self.out = lora.Linear(8, 5, r=3, lora_alpha=6)

    def forward(self, ids):
        h = self.qkv(self.embed(ids)).transpose(1, 2).unsqueeze(3)
        return self.out(torch.relu(self.conv(h)).mean((2, 3)))


def adapt():
    with on_path("LoRA"):
        import loralib as lora
    net = Net(lora)
    for name, parameter in net.named_parameters():
        if "lora_" in name and parameter.abs().sum() == 0:
            torch.nn.init.normal_(parameter, std=0.1)
    lora.mark_only_lora_as_trainable(net, bias="lora_only")
    trainable = [name for name, p in net.named_parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=0.01)
    ids, labels = torch.randint(20, (6, 7)), torch.randint(5, (6,))
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(ids), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    file = io.BytesIO()
    torch.save(lora.lora_state_dict(net, bias="lora_only"), file)
    merged = net.eval()(ids)
    again = net.train().eval()(ids)
    file.seek(0)
    torch.manual_seed(3)
    other = Net(lora)
    found = other.load_state_dict(torch.load(file), strict=False)
    return [trainable, losses, merged, again, sorted(found.missing_keys), found.unexpected_keys,
            other.eval()(ids), str(net)]  # fmt: skip


CASES = {"adapt": adapt}
