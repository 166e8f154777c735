"""Whisper: mel spectrogram, encoder and decoder with random weights, cached decoding, beam search, alignment"""

import numpy as np
import torch
import training
from repositories import on_path

PACKAGES = ()
REPOSITORY = "openai/whisper@c0d2f624c09dc18e709e37c2ad90c039a4eb72a2"
SIZES = {
    "n_mels": 80, "n_audio_ctx": 1500, "n_audio_state": 32, "n_audio_head": 2, "n_audio_layer": 2,
    "n_vocab": 51865, "n_text_ctx": 32, "n_text_state": 32, "n_text_head": 2, "n_text_layer": 2,
}  # fmt: skip


def sound():
    t = np.arange(16000, dtype=np.float32) / 16000
    return np.sin(2 * np.pi * 440 * t * (1 + t)).astype(np.float32)


def build(module, **changes):
    torch.manual_seed(1)
    model = module.model.Whisper(module.model.ModelDimensions(**{**SIZES, **changes}))
    for parameter in model.parameters():
        if parameter.dim() > 1:
            torch.nn.init.normal_(parameter, std=0.1)
        elif parameter.abs().sum() == 0:
            torch.nn.init.zeros_(parameter)
    torch.nn.init.normal_(model.decoder.positional_embedding, std=0.1)
    return model


def whisper():
    import whisper

    return whisper


def mel():
    with on_path("whisper"):
        module = whisper()
        return module.log_mel_spectrogram(module.pad_or_trim(sound(), 32000))


def step():
    with on_path("whisper"):
        model = build(whisper(), n_vocab=100, n_audio_ctx=50)
        mels, ids = torch.randn(2, 80, 100), torch.randint(100, (2, 9))

        def loss_of(model):
            logits = model(mels, ids)
            return torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids.flatten()), logits

        return training.step(model, loss_of)


def decode(**options):
    def run():
        with on_path("whisper"):
            module = whisper()
            model = build(module).eval()
            mels = torch.randn(80, 3000)
            settings = module.DecodingOptions(fp16=False, sample_len=8, **options)
            result = module.decode(model, mels, settings)
            return [result.tokens, result.text, result.avg_logprob, result.no_speech_prob]

    return run


def language():
    with on_path("whisper"):
        module = whisper()
        tokens, probabilities = module.detect_language(build(module).eval(), torch.randn(80, 3000))
        return [tokens, [probabilities[key] for key in sorted(probabilities)]]


def filters():
    with on_path("whisper"):
        from whisper.timing import dtw_cpu, median_filter

        costs = np.random.RandomState(0).rand(9, 14)
        return [median_filter(torch.randn(3, 4, 30), 7), dtw_cpu(costs)]


CASES = {
    "mel": mel,
    "step": step,
    "greedy": decode(language="en", without_timestamps=True),
    "beams": decode(language="en", beam_size=3),
    "sampled": decode(language="de", temperature=0.7, best_of=2),
    "language": language,
    "filters": filters,
}
