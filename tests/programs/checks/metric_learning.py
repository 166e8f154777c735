"""pytorch-metric-learning: losses, miners, distances, samplers"""

import torch
from pytorch_metric_learning import distances, losses, miners, reducers, regularizers, samplers
from pytorch_metric_learning.utils.inference import FaissKNN  # noqa: F401 - importable without faiss

PACKAGES = ("pytorch-metric-learning",)
PLAIN = """AngularLoss CircleLoss ContrastiveLoss FastAPLoss GeneralizedLiftedStructureLoss HistogramLoss
    InstanceLoss IntraPairVarianceLoss LiftedStructureLoss MarginLoss MultiSimilarityLoss NPairsLoss NTXentLoss
    PNPLoss RankedListLoss SignalToNoiseRatioContrastiveLoss SupConLoss ThresholdConsistentMarginLoss
    TripletMarginLoss TupletMarginLoss""".split()
WITH_WEIGHTS = """ArcFaceLoss CosFaceLoss LargeMarginSoftmaxLoss NormalizedSoftmaxLoss ProxyAnchorLoss ProxyNCALoss
    SoftTripleLoss SphereFaceLoss SubCenterArcFaceLoss""".split()


def data():
    return torch.randn(24, 8, requires_grad=True), torch.arange(24) % 4


def all_losses():
    found = {}
    extra = {"RankedListLoss": {"margin": 1.0, "Tn": 1}, "InstanceLoss": {}}
    for name in PLAIN + WITH_WEIGHTS:
        if not hasattr(losses, name):
            continue
        embeddings, labels = data()
        arguments = dict(extra.get(name, {}))
        if name in WITH_WEIGHTS:
            arguments |= {"num_classes": 4, "embedding_size": 8}
        loss = getattr(losses, name)(**arguments)(embeddings, labels)
        loss.backward()
        found[name] = [loss, embeddings.grad]
    return found


def mining():
    embeddings, labels = data()
    found = {}
    for name in (
        "BatchHardMiner",
        "MultiSimilarityMiner",
        "PairMarginMiner",
        "TripletMarginMiner",
        "UniformHistogramMiner",
    ):
        found[name] = list(getattr(miners, name)()(embeddings.detach(), labels))
    loss = losses.TripletMarginLoss(
        distance=distances.CosineSimilarity(),
        reducer=reducers.ThresholdReducer(high=0.5),
        embedding_regularizer=regularizers.LpRegularizer(),
    )
    found["composed"] = loss(embeddings, labels, miners.BatchHardMiner()(embeddings, labels))
    return found


def sampling():
    sampler = samplers.MPerClassSampler(list(range(4)) * 10, m=2, length_before_new_iter=16)
    return [sorted(int(i) % 4 for i in sampler), len(sampler)]


CASES = {"losses": all_losses, "mining": mining, "sampling": sampling}
