"""scikit-learn's interface: fit, predict, grid search, a pipeline, callbacks"""

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from skorch.callbacks import EpochScoring, GradientNormClipping, LRScheduler

PACKAGES = ("skorch", "scikit-learn")


class Net(torch.nn.Module):
    def __init__(self, hidden=8, out=2):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(5, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, out)
        )

    def forward(self, x):
        return self.layers(x)


def data():
    x = np.random.randn(80, 5).astype(np.float32)
    return x, (x[:, 0] > x[:, 1]).astype(np.int64)


def classifier():
    x, y = data()
    net = NeuralNetClassifier(
        Net, criterion=torch.nn.CrossEntropyLoss, max_epochs=4, lr=0.1, verbose=0,
        callbacks=[LRScheduler("StepLR", step_size=2), GradientNormClipping(1.0),
                   EpochScoring("roc_auc", name="auc", lower_is_better=False)],
    )  # fmt: skip
    pipeline = make_pipeline(StandardScaler(), net).fit(x, y)
    history = net.history
    return [
        torch.tensor(history[:, "train_loss"]),
        torch.tensor(history[:, "auc"]),
        pipeline.predict_proba(x),
    ]


def search():
    x, y = data()
    net = NeuralNetClassifier(
        Net, criterion=torch.nn.CrossEntropyLoss, max_epochs=2, verbose=0, train_split=None
    )
    grid = GridSearchCV(net, {"lr": [0.01, 0.1], "module__hidden": [4, 8]}, cv=2).fit(x, y)
    return [grid.best_params_, grid.cv_results_["mean_test_score"]]


def regressor():
    x, y = data()
    net = NeuralNetRegressor(
        Net(out=1), max_epochs=3, lr=0.05, verbose=0, optimizer=torch.optim.Adam
    )
    return net.fit(x, y.astype(np.float32)[:, None]).predict(x)


CASES = {"classifier": classifier, "search": search, "regressor": regressor}
