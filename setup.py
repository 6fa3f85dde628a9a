"""What pyproject.toml cannot say: the proof pages, which lie beside the code, go into the wheel."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

PROOFS = Path(__file__).parent / "proofs"


class WithProofs(build_py):
    """`dpbandits explain` prints them, in an installation without the repository, too."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib) / "dpbandits" / "proofs"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(PROOFS, target, ignore=shutil.ignore_patterns("*[!d]"))


if __name__ == "__main__":
    setup(cmdclass={"build_py": WithProofs})
