"""LoRA and other adapters on transformers models: trainable parameters, a training step, merging, files"""

import tempfile

import torch
import training
from peft import IA3Config, LoraConfig, PeftModel, PromptTuningConfig, TaskType, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

PACKAGES = ("peft", "transformers", "accelerate")


def base():
    config = GPT2Config(vocab_size=120, n_positions=64, n_embd=32, n_layer=2, n_head=4)
    return GPT2LMHeadModel(config)


def adapter(config):
    def run():
        model = get_peft_model(base(), config)
        ids = torch.randint(3, 120, (2, 10))
        trainable = sorted(name for name, p in model.named_parameters() if p.requires_grad)

        def loss_of(model):
            output = model(input_ids=ids, labels=ids, attention_mask=torch.ones_like(ids))
            return output.loss, output.logits

        return [trainable, training.step(model, loss_of, lr=0.1)]

    return run


def merged():
    model = get_peft_model(
        base(), LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, init_lora_weights=False)
    )
    model.eval()
    ids = torch.randint(3, 120, (2, 10))
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        before = model(input_ids=ids).logits
        model.save_pretrained(folder)
        torch.manual_seed(0)
        again = PeftModel.from_pretrained(base(), folder).eval()
        loaded = again(input_ids=ids).logits
        after = model.merge_and_unload()(ids).logits
    return [before, loaded, after]


CASES = {
    "lora": adapter(LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, lora_alpha=16, lora_dropout=0.1)),
    "dora": adapter(LoraConfig(task_type=TaskType.CAUSAL_LM, r=4, use_dora=True)),
    "ia3": adapter(IA3Config(task_type=TaskType.CAUSAL_LM)),
    "prompt": adapter(PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=4)),
    "merged": merged,
}
