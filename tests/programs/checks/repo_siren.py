"""SIREN: fits with sine layers, gradients and Laplacians of its outputs in the loss, signed distances"""

import torch
from repositories import on_path

PACKAGES = ()
REPOSITORY = "vsitzmann/siren@4df34baee3f0f9c8f351630992c1fe1f69114b5f"


def modules():
    with on_path("siren"):
        import diff_operators
        import loss_functions
        import meta_modules
        import modules

        return modules, diff_operators, loss_functions, meta_modules


def fit(kind):
    def run():
        nets, operators, losses, _ = modules()
        model = nets.SingleBVPNet(type=kind, in_features=2, hidden_features=24, num_hidden_layers=2)
        coordinates = torch.rand(1, 64, 2) * 2 - 1
        truth = {
            "laplace": torch.randn(1, 64, 1),
            "gradients": torch.randn(1, 64, 2),
            "img": torch.randn(1, 64, 1),
        }
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
        found = []
        for _ in range(4):
            output = model({"coords": coordinates})
            total = 0
            for loss in (losses.gradients_mse, losses.laplace_mse):
                total = total + sum(term.mean() for term in loss(output, truth).values())
            optimizer.zero_grad()
            total.backward()
            optimizer.step()
            found.append(total)
        output = model({"coords": coordinates})
        hessian, status = operators.hessian(output["model_out"], output["model_in"])
        jacobian, _ = operators.jacobian(output["model_out"], output["model_in"])
        return [found, output["model_out"], hessian, status, jacobian]

    return run


def distance():
    nets, _, losses, _ = modules()
    model = nets.SingleBVPNet(type="sine", in_features=3, hidden_features=24, num_hidden_layers=2)
    coordinates = torch.rand(1, 50, 3) * 2 - 1
    truth = {
        "sdf": torch.where(torch.rand(1, 50, 1) > 0.5, 0.0, -1.0),
        "normals": torch.randn(1, 50, 3),
    }
    terms = losses.sdf(model({"coords": coordinates}), truth)
    sum(term.mean() for term in terms.values()).backward()
    return [terms, [p.grad for p in model.parameters()]]


CASES = {"sine": fit("sine"), "softplus": fit("softplus"), "distance": distance}
