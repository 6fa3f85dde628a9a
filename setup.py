"""What pyproject.toml cannot say: the proof pages, which lie beside the code, go into the wheel,
and the README goes with it without links to files that are not there.
"""

import re
import shutil
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).parent

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:)([^)]+)\)")


class WithProofs(build_py):
    """`dpbandits explain` prints them, in an installation without the repository, too."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "dpbandits" / "proofs"
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(parents=True)
            for page in sorted(HERE.glob("proofs/*.md")):
                shutil.copy(page, target)


def description(readme: str, repository: str | None) -> str:
    """The README as a registry shows it, where its files are not: links lead into the repository,
    if pyproject.toml names one under [project.urls]; else they are plain words, without figures.
    """

    def elsewhere(found: re.Match[str]) -> str:
        figure, words, path = found.groups()
        if repository is None:
            return "" if figure else words
        kind = "raw" if figure else "blob"
        return f"{figure}[{words}]({repository.rstrip('/')}/{kind}/main/{path})"

    code = FENCED.findall(readme)
    text = [LINK.sub(elsewhere, part) for part in FENCED.split(readme)]
    return "".join(part + fenced for part, fenced in zip(text, [*code, ""], strict=True))


if __name__ == "__main__":
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    setup(
        cmdclass={"build_py": WithProofs},
        long_description=description(
            (HERE / "README.md").read_text(encoding="utf-8"),
            project.get("urls", {}).get("Repository"),
        ),
        long_description_content_type="text/markdown",
    )
