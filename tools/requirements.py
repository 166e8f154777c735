"""Print requirement lists of pyproject.toml: `build`, or the name of an extra. For make."""

import pathlib
import sys
import tomllib


def main(groups: list[str]) -> None:
    root = pathlib.Path(__file__).resolve().parent.parent
    data = tomllib.loads((root / "pyproject.toml").read_text())
    extras = data["project"]["optional-dependencies"]
    for group in groups:
        wanted = data["build-system"]["requires"] if group == "build" else extras[group]
        print("\n".join([*wanted, *data["project"]["dependencies"]]))


if __name__ == "__main__":
    main(sys.argv[1:])
