"""The `flambeau` command: demo, run, env. Each subcommand imports what it needs, so that --help is immediate."""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, ModuleType, TracebackType

PACKAGE = Path(__file__).resolve().parent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = build_parser()
    options = parser.parse_args(arguments)
    if options.version:
        import flambeau

        print(f"flambeau {flambeau.__version__}")
        return 0
    if options.command is None:
        parser.print_help()
        return 0
    status: int = options.start(options)
    return status


def build_parser() -> argparse.ArgumentParser:
    """All subcommands and their options."""
    parser = argparse.ArgumentParser(
        prog="flambeau",
        description="PyTorch's programming model, small and fast on CPUs.",
        epilog="flambeau COMMAND --help says more about a command.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    demo = commands.add_parser(
        "demo",
        help="train a small network on handwritten digits and classify image files",
        description="Train a small convolutional network on 1,797 real handwritten digits, save it, load it in a "
        "fresh process, and classify image files. Needs the demo extra: pip install flambeau[demo]",
    )
    demo.add_argument("--device", default="cpu", help="device to train on (default: cpu)")
    demo.add_argument(
        "--epochs", type=positive, default=20, help="passes over the training images (default: 20)"
    )
    demo.add_argument(
        "--seed",
        type=int,
        default=0,
        help="seed of the split, the weights and the batches (default: 0)",
    )
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("demo-out"),
        metavar="DIR",
        help="folder for the checkpoint and the pictures (default: demo-out)",
    )
    demo.add_argument(
        "--classify",
        nargs="+",
        type=Path,
        metavar="PNG",
        help="do not train: load the checkpoint from DIR and classify these image files",
    )
    demo.set_defaults(start=start_demo)

    run = commands.add_parser(
        "run",
        help="run a PyTorch script on Flambeau, unmodified",
        description="Run a Python script in which `import torch` and its submodules give Flambeau's modules. "
        "Errors show the script's own lines; FLAMBEAU_FULL_TRACEBACK=1 shows all.",
    )
    run.add_argument(
        "-m",
        dest="module",
        action="store_true",
        help="SCRIPT is the name of a module, as in python -m",
    )
    run.add_argument("script", metavar="SCRIPT", help="file to run")
    run.add_argument(
        "arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script"
    )
    run.set_defaults(start=start_run)

    env = commands.add_parser("env", help="print versions, CPU level and threads, for bug reports")
    env.set_defaults(start=start_env)
    return parser


def positive(text: str) -> int:
    """An argument of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {value}")
    return value


def start_demo(options: argparse.Namespace) -> int:
    """`flambeau demo`."""
    from . import demo

    return demo.main(options)


def start_env(options: argparse.Namespace) -> int:
    """`flambeau env`."""
    from .utils import collect_env

    print(collect_env.get_pretty_env_info())
    return 0


def start_run(options: argparse.Namespace) -> int:
    """`flambeau run`: exec the script as __main__ with the drop-in finder installed."""
    from . import dropin

    dropin.install()
    sys.argv = [options.script, *options.arguments]
    code, name = load_module(options.script) if options.module else load_script(options.script)
    if code is None:
        print(f"flambeau run: {name}", file=sys.stderr)
        return 2
    module = ModuleType("__main__")
    module.__file__ = name
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    try:
        exec(code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        if os.environ.get("FLAMBEAU_FULL_TRACEBACK") != "1":
            trim(error)
        traceback.print_exception(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def load_script(script: str) -> tuple[CodeType | None, str]:
    """Compiled file and its name, or None and what is wrong. Its folder becomes sys.path[0], as python does."""
    path = Path(script)
    if not path.is_file():
        return None, f"expected a Python file, got {script}, which does not exist"
    sys.path[0] = str(path.resolve().parent)
    try:
        return compile(path.read_bytes(), str(path), "exec"), str(path)
    except SyntaxError as error:
        traceback.print_exception(error.with_traceback(None))
        return None, f"{script} cannot be compiled"


def load_module(name: str) -> tuple[CodeType | None, str]:
    """The same for `-m package.module`; the current folder is searched first."""
    import importlib.util

    sys.path[0] = os.getcwd()
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except ModuleNotFoundError:
        spec = None
    code = getattr(spec.loader, "get_code", lambda _: None)(spec.name) if spec is not None else None
    if spec is None or code is None:
        return None, f"expected a module that can be run, got {name}"
    sys.argv[0] = spec.origin or name
    return code, sys.argv[0]


def trim(error: BaseException) -> None:
    """Leave the user's frames in the traceback: not ours at the top, nor the library's below their last line."""
    frames: list[TracebackType] = []
    step = error.__traceback__
    while step is not None:
        frames.append(step)
        step = step.tb_next
    theirs = [i for i, frame in enumerate(frames) if not is_ours(frame)]
    if not theirs:
        return
    rebuilt: TracebackType | None = None
    for frame in reversed(frames[theirs[0] : theirs[-1] + 1]):
        rebuilt = TracebackType(rebuilt, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__traceback__ = rebuilt
    for linked in (error.__cause__, error.__context__):
        if linked is not None:
            trim(linked)


def is_ours(frame: TracebackType) -> bool:
    """Whether a traceback entry lies inside this package."""
    return Path(frame.tb_frame.f_code.co_filename).is_relative_to(PACKAGE)
