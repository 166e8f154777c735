"""Example-sized models as ordinary PyTorch code, and a few training steps of each.

Used with Flambeau under PyTorch's name (test_training.py) and with PyTorch itself (record.py), hence `import torch`.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 5))

    def forward(self, x):
        return self.layers(x)


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class BasicBlock(nn.Module):
    def __init__(self, inplanes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inplanes, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = None
        if stride != 1 or inplanes != planes:
            self.downsample = nn.Sequential(
                nn.Conv2d(inplanes, planes, 1, stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x):
        identity = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.relu(out)


class ResNet18(nn.Module):
    def __init__(self, width=16, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        layers, planes = [], width
        for i in range(4):
            stride = 1 if i == 0 else 2
            out = width * 2**i
            layers += [BasicBlock(planes, out, stride), BasicBlock(out, out)]
            planes = out
        self.layers = nn.Sequential(*layers)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(planes, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, nn.BatchNorm2d):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.fc(torch.flatten(self.avgpool(self.layers(x)), 1))


class InvertedResidual(nn.Module):
    def __init__(self, inp, oup, stride, expand):
        super().__init__()
        hidden = inp * expand
        self.use_res = stride == 1 and inp == oup
        layers = []
        if expand != 1:
            layers += [
                nn.Conv2d(inp, hidden, 1, bias=False),
                nn.BatchNorm2d(hidden),
                nn.ReLU6(inplace=True),
            ]
        layers += [
            nn.Conv2d(hidden, hidden, 3, stride, 1, groups=hidden, bias=False),
            nn.BatchNorm2d(hidden),
            nn.ReLU6(inplace=True),
            nn.Conv2d(hidden, oup, 1, bias=False),
            nn.BatchNorm2d(oup),
        ]
        self.conv = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.conv(x) if self.use_res else self.conv(x)


class MobileNetV2(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        features = [
            nn.Sequential(
                nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(inplace=True)
            )
        ]
        inp = 8
        for expand, oup, repeat, stride in ((1, 8, 1, 1), (6, 12, 2, 2), (6, 16, 2, 2)):
            for i in range(repeat):
                features.append(InvertedResidual(inp, oup, stride if i == 0 else 1, expand))
                inp = oup
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(inp, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean([2, 3]))


class LSTMTagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 16, padding_idx=0)
        self.lstm = nn.LSTM(16, 24, num_layers=2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(48, 7)

    def forward(self, tokens):
        out, _ = self.lstm(self.embed(tokens))
        return self.head(out)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(30, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(32, 7)

    def forward(self, tokens):
        mask = tokens == 0
        x = self.encoder(self.embed(tokens), src_key_padding_mask=mask)
        return self.head(x)


class CausalSelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.c_attn = nn.Linear(dim, 3 * dim)
        self.c_proj = nn.Linear(dim, dim)
        self.heads = heads

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.c_attn(x).split(c, dim=2)
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(b, t, c))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim)
        self.attn = CausalSelfAttention(dim, heads)
        self.ln_2 = nn.LayerNorm(dim)
        self.mlp = nn.ModuleDict(
            {"fc": nn.Linear(dim, 4 * dim), "act": nn.GELU(), "proj": nn.Linear(4 * dim, dim)}
        )

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        y = self.ln_2(x)
        for name in ("fc", "act", "proj"):
            y = self.mlp[name](y)
        return x + y


class CharGPT(nn.Module):
    def __init__(self, vocab=30, dim=32, layers=2, heads=4, block=16):
        super().__init__()
        self.wte = nn.Embedding(vocab, dim)
        self.wpe = nn.Embedding(block, dim)
        self.h = nn.ModuleList([Block(dim, heads) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.lm_head = nn.Linear(dim, vocab, bias=False)
        self.wte.weight = self.lm_head.weight  # tied
        self.apply(self._init)
        for name, p in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(p, 0.0, 0.02 / math.sqrt(2 * layers))

    def _init(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, 0.0, 0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(tokens.size(1)))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def _images(channels, size, n=4):
    return torch.randn(n, channels, size, size), torch.randint(10, (n,))


def _tokens(classes, n=4, t=12):
    tokens = torch.randint(1, 30, (n, t))
    target = torch.randint(classes, (n, t))
    tokens[0, -3:] = 0  # padding, which the loss ignores
    target[0, -3:] = -100
    return tokens, target


def _per_token(logits, target):
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), target.reshape(-1))


# name -> (model, batch, loss, optimizer)
MODELS = {
    "mlp": (MLP, lambda: (torch.randn(16, 20), torch.randint(5, (16,))), F.cross_entropy,
            lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=1e-4)),
    "lenet": (LeNet, lambda: _images(1, 28), F.cross_entropy, lambda p: torch.optim.Adam(p, lr=1e-3)),
    "resnet18": (ResNet18, lambda: _images(3, 64, 8), F.cross_entropy,
                 lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, nesterov=True)),
    "mobilenet_v2": (MobileNetV2, lambda: _images(3, 32, 8), F.cross_entropy,
                     lambda p: torch.optim.RMSprop(p, lr=1e-3)),
    "lstm": (LSTMTagger, lambda: _tokens(7), _per_token, lambda p: torch.optim.AdamW(p, lr=1e-2)),
    "encoder": (Encoder, lambda: _tokens(7), _per_token, lambda p: torch.optim.Adam(p, lr=1e-3, amsgrad=True)),
    "char_gpt": (CharGPT, lambda: _tokens(30), _per_token, lambda p: torch.optim.AdamW(p, lr=3e-3, betas=(0.9, 0.95))),
}  # fmt: skip


def train(name, steps=5):
    """Losses of the first steps, then the loss in evaluation mode; all from one seed."""
    make, batch, loss_fn, make_optimizer = MODELS[name]
    torch.manual_seed(1234)
    model = make()
    optimizer = make_optimizer(model.parameters())
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=optimizer.param_groups[0]["lr"], total_steps=10
    )
    inputs, target = batch()
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        losses.append(loss_fn(model(inputs), target).item())
    return losses
