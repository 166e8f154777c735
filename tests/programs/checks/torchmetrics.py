"""functional metrics (classification, regression, image, audio, ranking, text, clustering), accumulating modules"""

import torch
import torchmetrics
import torchmetrics.functional as M
from torchmetrics.functional import (
    audio,
    classification,
    clustering,
    image,
    nominal,
    pairwise,
    retrieval,
    text,
)

PACKAGES = ("torchmetrics", "lightning-utilities")


def classes(n=60, c=5):
    return torch.randn(n, c).softmax(1), torch.randint(c, (n,))


def binary():
    score, target = torch.rand(80), torch.randint(2, (80,))
    names = """binary_accuracy binary_auroc binary_average_precision binary_calibration_error binary_cohen_kappa
        binary_confusion_matrix binary_f1_score binary_hamming_distance binary_hinge_loss binary_jaccard_index
        binary_matthews_corrcoef binary_precision binary_recall binary_specificity binary_stat_scores binary_roc
        binary_precision_recall_curve binary_negative_predictive_value"""
    return {name: getattr(classification, name)(score, target) for name in names.split()}


def multiclass():
    score, target = classes()
    names = """multiclass_accuracy multiclass_auroc multiclass_average_precision multiclass_calibration_error
        multiclass_cohen_kappa multiclass_confusion_matrix multiclass_exact_match multiclass_f1_score
        multiclass_hamming_distance multiclass_hinge_loss multiclass_jaccard_index multiclass_matthews_corrcoef
        multiclass_precision multiclass_recall multiclass_specificity multiclass_stat_scores multiclass_roc
        multiclass_precision_recall_curve"""
    result = {}
    for name in names.split():
        predictions = score.argmax(1) if "exact" in name else score
        if "exact" in name:
            predictions, labels = predictions.view(10, 6), target.view(10, 6)
            result[name] = getattr(classification, name)(predictions, labels, num_classes=5)
        else:
            result[name] = getattr(classification, name)(predictions, target, num_classes=5)
    for average in ("micro", "macro", "weighted", "none"):
        result[f"f1 {average}"] = classification.multiclass_f1_score(
            score, target, 5, average=average
        )
        result[f"top2 {average}"] = classification.multiclass_accuracy(
            score, target, 5, average=average, top_k=2
        )
    return result


def multilabel():
    score, target = torch.rand(40, 4), torch.randint(2, (40, 4))
    names = """multilabel_accuracy multilabel_auroc multilabel_average_precision multilabel_confusion_matrix
        multilabel_coverage_error multilabel_exact_match multilabel_f1_score multilabel_hamming_distance
        multilabel_jaccard_index multilabel_precision multilabel_ranking_average_precision multilabel_ranking_loss
        multilabel_recall multilabel_specificity multilabel_stat_scores"""
    return {
        name: getattr(classification, name)(score, target, num_labels=4) for name in names.split()
    }


def regression():
    a = torch.randn(50)
    b = a + 0.3 * torch.randn(50)
    names = """concordance_corrcoef cosine_similarity explained_variance kendall_rank_corrcoef log_cosh_error
        mean_absolute_error mean_absolute_percentage_error mean_squared_error minkowski_distance
        normalized_root_mean_squared_error
        pearson_corrcoef r2_score relative_squared_error spearman_corrcoef symmetric_mean_absolute_percentage_error
        weighted_mean_absolute_percentage_error"""
    result = {}
    for name in names.split():
        extra = {"p": 3} if name == "minkowski_distance" else {}
        x, y = (a.view(5, 10), b.view(5, 10)) if name == "cosine_similarity" else (a, b)
        result[name] = getattr(M, name)(x, y, **extra)
    result["tweedie"] = M.tweedie_deviance_score(a.exp(), b.exp(), power=1.5)
    result["log"] = M.mean_squared_log_error(a.abs(), b.abs())
    result["kl"] = M.kl_divergence(classes()[0], classes()[0])
    return result


def images():
    a = torch.rand(2, 3, 48, 48)
    b = (a + 0.1 * torch.randn_like(a)).clamp(0, 1)
    big_a = torch.rand(1, 3, 180, 180)
    big_b = (big_a + 0.05 * torch.randn_like(big_a)).clamp(0, 1)
    return {
        "ssim": image.structural_similarity_index_measure(a, b, data_range=1.0),
        "ms_ssim": image.multiscale_structural_similarity_index_measure(
            big_a, big_b, data_range=1.0
        ),
        "psnr": image.peak_signal_noise_ratio(a, b, data_range=1.0),
        "uqi": image.universal_image_quality_index(a, b),
        "ergas": image.error_relative_global_dimensionless_synthesis(a, b),
        "sam": image.spectral_angle_mapper(a, b),
        "tv": image.total_variation(a),
        "gradients": image.image_gradients(a),
        "vif": image.visual_information_fidelity(a, b),
        "scc": image.spatial_correlation_coefficient(a, b),
        "rmse_sw": image.root_mean_squared_error_using_sliding_window(a, b),
        "rase": image.relative_average_spectral_error(a, b),
        "d_lambda": image.spectral_distortion_index(a, b),
    }


def sounds():
    a = torch.randn(2, 400)
    b = a + 0.2 * torch.randn(2, 400)
    return {
        "snr": audio.signal_noise_ratio(b, a),
        "si_snr": audio.scale_invariant_signal_noise_ratio(b, a),
        "si_sdr": audio.scale_invariant_signal_distortion_ratio(b, a),
        "sdr": audio.signal_distortion_ratio(b.double(), a.double(), filter_length=32),
        "sa_sdr": audio.source_aggregated_signal_distortion_ratio(b[None], a[None]),
        "pit": audio.permutation_invariant_training(
            b[None], a[None].flip(1), audio.scale_invariant_signal_noise_ratio
        ),
    }


def ranking():
    score, relevant = torch.rand(20), torch.randint(2, (20,))
    names = """retrieval_average_precision retrieval_auroc retrieval_fall_out retrieval_hit_rate
        retrieval_normalized_dcg retrieval_precision retrieval_precision_recall_curve retrieval_r_precision
        retrieval_recall retrieval_reciprocal_rank"""
    return {name: getattr(retrieval, name)(score, relevant) for name in names.split()}


def texts():
    predictions = ["the cat sat on the mat", "hello there general"]
    targets = ["a cat sat on the mat", "hello there general kenobi"]
    return {
        "bleu": text.bleu_score(predictions, [[t] for t in targets], n_gram=2),
        "cer": text.char_error_rate(predictions, targets),
        "chrf": text.chrf_score(predictions, [[t] for t in targets]),
        "edit": text.edit_distance(predictions, targets),
        "mer": text.match_error_rate(predictions, targets),
        "wer": text.word_error_rate(predictions, targets),
        "wil": text.word_information_lost(predictions, targets),
        "ter": text.translation_edit_rate(predictions, [[t] for t in targets]),
        "perplexity": text.perplexity(torch.randn(2, 6, 9), torch.randint(9, (2, 6))),
    }


def groups():
    a, b = torch.randint(4, (60,)), torch.randint(4, (60,))
    names = """adjusted_mutual_info_score adjusted_rand_score completeness_score fowlkes_mallows_index homogeneity_score
        mutual_info_score normalized_mutual_info_score rand_score v_measure_score"""
    result = {name: getattr(clustering, name)(a, b) for name in names.split()}
    x = torch.randn(60, 3)
    for name in ("calinski_harabasz_score", "davies_bouldin_score", "dunn_index"):
        result[name] = getattr(clustering, name)(x, a)
    for name in ("cramers_v", "pearsons_contingency_coefficient", "theils_u", "tschuprows_t"):
        result[name] = getattr(nominal, name)(a, b)
    y = torch.randn(20, 3)
    for name in """pairwise_cosine_similarity pairwise_euclidean_distance pairwise_linear_similarity
        pairwise_manhattan_distance pairwise_minkowski_distance""".split():
        result[name] = getattr(pairwise, name)(x, y)
    return result


def accumulating():
    metrics = torchmetrics.MetricCollection(
        {
            "accuracy": torchmetrics.Accuracy(task="multiclass", num_classes=5),
            "auroc": torchmetrics.AUROC(task="multiclass", num_classes=5),
            "f1": torchmetrics.F1Score(task="multiclass", num_classes=5, average="macro"),
            "confusion": torchmetrics.ConfusionMatrix(task="multiclass", num_classes=5),
        }
    )
    steps = []
    for _ in range(4):
        score, target = classes()
        steps.append(metrics(score, target))
    mean, error = torchmetrics.MeanMetric(), torchmetrics.PearsonCorrCoef()
    for _ in range(3):
        mean.update(torch.randn(7), weight=torch.rand(7))
        error.update(torch.randn(9), torch.randn(9))
    state = metrics.state_dict()
    total = metrics.compute()
    metrics.reset()
    return [steps, total, mean.compute(), error.compute(), sorted(state)]


CASES = {
    "binary": binary,
    "multiclass": multiclass,
    "multilabel": multilabel,
    "regression": regression,
    "images": images,
    "sounds": sounds,
    "ranking": ranking,
    "texts": texts,
    "groups": groups,
    "accumulating": accumulating,
}
