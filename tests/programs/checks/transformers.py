"""models from configurations: initial weights, output, loss and gradients of a training step; greedy generation"""

import torch
import training
import transformers
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DistilBertConfig,
    DistilBertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    RobertaConfig,
    RobertaForMaskedLM,
    T5Config,
    T5ForConditionalGeneration,
    ViTConfig,
    ViTForImageClassification,
    WhisperConfig,
    WhisperForConditionalGeneration,
)

PACKAGES = ("transformers", "tokenizers", "huggingface_hub", "safetensors")

SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
}
VOCAB = 120


def tokens(batch=2, length=12):
    ids = torch.randint(3, VOCAB, (batch, length))
    mask = torch.ones(batch, length, dtype=torch.long)
    mask[0, -3:] = 0
    return ids, mask


def step(model, **inputs):
    def loss_of(model):
        output = model(**inputs)
        return output.loss, output.logits

    return training.step(model, loss_of)


def bert():
    config = BertConfig(vocab_size=VOCAB, max_position_embeddings=32, num_labels=3, **SMALL)
    ids, mask = tokens()
    model = BertForSequenceClassification(config)
    return step(model, input_ids=ids, attention_mask=mask, labels=torch.tensor([0, 2]))


def distilbert():
    config = DistilBertConfig(
        vocab_size=VOCAB, dim=32, n_layers=2, n_heads=4, hidden_dim=64, max_position_embeddings=32
    )
    ids, mask = tokens()
    return step(DistilBertForMaskedLM(config), input_ids=ids, attention_mask=mask, labels=ids)


def roberta():
    config = RobertaConfig(vocab_size=VOCAB, max_position_embeddings=32, **SMALL)
    ids, mask = tokens()
    return step(RobertaForMaskedLM(config), input_ids=ids, attention_mask=mask, labels=ids)


def gpt2_model():
    config = GPT2Config(
        vocab_size=VOCAB,
        n_positions=64,
        n_embd=32,
        n_layer=2,
        n_head=4,
        bos_token_id=0,
        eos_token_id=1,
    )
    return GPT2LMHeadModel(config)


def gpt2():
    ids, _ = tokens()
    return step(gpt2_model(), input_ids=ids, labels=ids)


def gpt2_generate():
    model = gpt2_model().eval()
    ids, _ = tokens(2, 5)
    options = {"max_new_tokens": 12, "pad_token_id": 0, "attention_mask": torch.ones_like(ids)}
    greedy = model.generate(ids, do_sample=False, **options)
    uncached = model.generate(ids, do_sample=False, use_cache=False, **options)
    beams = model.generate(ids, do_sample=False, num_beams=3, **options)
    torch.manual_seed(1)
    sampled = model.generate(ids, do_sample=True, top_k=10, temperature=0.8, **options)
    return [greedy.tolist(), uncached.tolist(), beams.tolist(), sampled.tolist()]


def vit():
    config = ViTConfig(image_size=32, patch_size=8, num_labels=5, **SMALL)
    images = torch.randn(2, 3, 32, 32)
    return step(ViTForImageClassification(config), pixel_values=images, labels=torch.tensor([1, 4]))


def t5():
    config = T5Config(
        vocab_size=VOCAB,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
    )
    ids, mask = tokens()
    return step(T5ForConditionalGeneration(config), input_ids=ids, attention_mask=mask, labels=ids)


def causal(model_class, config_class):
    def run():
        config = config_class(
            vocab_size=VOCAB,
            num_key_value_heads=2,
            max_position_embeddings=64,
            pad_token_id=0,
            **SMALL,
        )
        ids, mask = tokens()
        model = model_class(config)
        result = step(model, input_ids=ids, attention_mask=mask, labels=ids)
        prompt = ids[1:, :4]
        generated = model.generate(
            prompt, do_sample=False, max_new_tokens=8, attention_mask=torch.ones_like(prompt)
        )
        result["generated"] = generated.tolist()
        return result

    return run


def whisper():
    config = WhisperConfig(
        vocab_size=VOCAB, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=16,
        max_source_positions=50, max_target_positions=32, pad_token_id=0, bos_token_id=1, eos_token_id=1,
        decoder_start_token_id=2, suppress_tokens=None, begin_suppress_tokens=None,
    )  # fmt: skip
    ids, _ = tokens()
    features = torch.randn(2, 16, 100)
    return step(WhisperForConditionalGeneration(config), input_features=features, labels=ids)


def save_and_load():
    import tempfile

    model = gpt2_model().eval()
    ids, _ = tokens()
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        model.save_pretrained(folder)
        again = GPT2LMHeadModel.from_pretrained(folder).eval()
        return [again(ids).logits, bool(torch.equal(again(ids).logits, model(ids).logits))]


def trainer_schedules():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    schedule = transformers.get_cosine_schedule_with_warmup(optimizer, 3, 20)
    rates = []
    for _ in range(20):
        optimizer.step()
        schedule.step()
        rates.append(schedule.get_last_lr()[0])
    return torch.tensor(rates)


CASES = {
    "bert": bert,
    "distilbert": distilbert,
    "roberta": roberta,
    "gpt2": gpt2,
    "gpt2_generate": gpt2_generate,
    "vit": vit,
    "t5": t5,
    "llama": causal(LlamaForCausalLM, LlamaConfig),
    "mistral": causal(MistralForCausalLM, MistralConfig),
    "qwen2": causal(Qwen2ForCausalLM, Qwen2Config),
    "whisper": whisper,
    "save_and_load": save_and_load,
    "trainer_schedules": trainer_schedules,
}
