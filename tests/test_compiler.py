"""A compiled function is the function; a compiled module has PyTorch's state_dict keys."""

import flambeau
from flambeau import compiler, nn


def test_compiled_function_is_the_function():
    def f(x):
        return x + 1

    assert flambeau.compile(f) is f
    assert flambeau.compile(backend="inductor", mode="max-autotune")(f) is f
    assert compiler.disable(f) is f and compiler.disable(recursive=False)(f) is f
    assert not compiler.is_compiling()


def test_compiled_module_runs_and_keeps_attributes():
    model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5))
    compiled = flambeau.compile(model)
    x = flambeau.ones(1, 2)
    compiled.eval()
    assert not model.training and not compiled.training
    assert flambeau.equal(compiled(x), model(x))
    assert list(compiled.state_dict()) == ["_orig_mod.0.weight", "_orig_mod.0.bias"]
    assert compiled._orig_mod is model and len(compiled) == 2 and compiled[0] is model[0]
    compiled.note = 5
    assert model.note == 5
    assert [p is q for p, q in zip(compiled.parameters(), model.parameters(), strict=True)] == [
        True,
        True,
    ]
    assert flambeau.compile(model, disable=True) is model
    compiled.load_state_dict(compiled.state_dict())
    compiled(x).sum().backward()
    assert model[0].weight.grad is not None
