"""minGPT: the trainer with callbacks on a sorting task, generation, byte pair texts"""

import torch
from repositories import load

PACKAGES = ()
REPOSITORY = "karpathy/minGPT@37baab71b9abea1b76ab957409a1cc2fbfba8a26"


class Sorting(torch.utils.data.Dataset):
    """Six digits, then the same digits sorted."""

    def __len__(self):
        return 300

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        digits = torch.randint(3, (6,), generator=generator)
        both = torch.cat([digits, digits.sort()[0]])
        x, y = both[:-1].clone(), both[1:].clone()
        y[:5] = -1
        return x, y


def sorting():
    model_module = load("mingpt.model", "minGPT")
    trainer_module = load("mingpt.trainer", "minGPT")
    config = model_module.GPT.get_default_config()
    config.model_type, config.vocab_size, config.block_size = "gpt-nano", 3, 11
    model = model_module.GPT(config)
    settings = trainer_module.Trainer.get_default_config()
    settings.learning_rate, settings.max_iters, settings.num_workers = 5e-4, 40, 0
    settings.batch_size, settings.device = 16, "cpu"
    trainer = trainer_module.Trainer(settings, model, Sorting())
    losses = []
    trainer.set_callback("on_batch_end", lambda t: losses.append(t.loss.detach()))
    trainer.run()
    model.eval()
    start = torch.randint(3, (3, 6))
    greedy = model.generate(start, 6, do_sample=False)
    sampled = model.generate(start, 6, do_sample=True, top_k=2)
    return [torch.stack(losses), greedy, sampled, repr(trainer.optimizer).count("lr:")]


CASES = {"sorting": sorting}
