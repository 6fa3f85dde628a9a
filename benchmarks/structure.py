"""How much there is to read: python -m benchmarks.structure

Prints a table of Markdown: statements and files, what a plain import loads, which files run in
some calls, and how deep classes go. All of it is counted, nothing is timed.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "dpbandits"
HALF = (
    *("core", "noise", "mechanisms", "oracles", "policies", "vault", "session", "local"),
    *("simulation", "environments", "checks", "theory"),
)
"""The computational half."""


def statements(path: Path) -> int:
    """Statements of a file; docstrings are not counted."""
    return sum(
        isinstance(node, ast.stmt)
        and not (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )


def by_package() -> dict[str, tuple[int, int, int]]:
    """Statements, files and lines of each package or module of the library."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        of = found.setdefault(path.relative_to(SOURCE).parts[0].removesuffix(".py"), Counter())
        lines = len(path.read_text(encoding="utf-8").splitlines())
        of.update({"statements": statements(path), "files": 1, "lines": lines})
    return {name: (of["statements"], of["files"], of["lines"]) for name, of in found.items()}


def loaded_by_import() -> int:
    """Own modules that `import dpbandits` loads."""
    code = "import sys, dpbandits; print(sum(m.split('.')[0] == 'dpbandits' for m in sys.modules))"
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout)


def files_run_in(call: Callable[[], object]) -> set[str]:
    """Own files whose code runs in a call."""
    found = set[str]()

    def note(frame: Any, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(SOURCE)):
            found.add(name)

    threading.setprofile(note)  # of threads that begin meanwhile
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # as it was
    return found


def calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Calls that a newcomer follows through the code."""
    import dpbandits as dpb

    def session() -> dpb.Session:
        policy = dpb.DPRateIMED(arms=5, epsilon=1)
        return dpb.Session(policy, noise=dpb.SimulatedNoise(1), seed=1)

    s = session()
    for _ in range(s.plan.rounds - 1):  # type: ignore[union-attr]  # its plans hold one arm
        s.tell(s.ask(), 1.0)
    last = s.ask()
    yield "a `tell` that ends a plan", lambda: s.tell(last, 1.0)
    text = session().to_json()
    yield "`from_json`", lambda: dpb.Session.from_json(text, noise=dpb.SimulatedNoise(1))
    yield "`beliefs`", s.beliefs
    yield from http_calls()


def http_calls() -> Iterator[tuple[str, Callable[[], object]]]:
    """Requests to a server, from its application to the database and back."""
    import anyio
    import httpx

    import dpbandits as dpb
    from dpbandits.service.server.app import make_app

    store = dpb.open_store("memory:", noise=dpb.SimulatedNoise(1))
    store.create("trial", dpb.DPRateIMED(arms=5, epsilon=1))
    # one for each request: its threads begin with it, and can be followed
    transports = [httpx.ASGITransport(app=make_app(store, open=True)) for _ in range(3)]

    def sent(what: str, body: object) -> Any:
        transport = transports.pop()

        async def answered() -> Any:
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as far:
                answer = await far.post(f"/v1/campaigns/trial/{what}", json=body)
                return answer.raise_for_status().json()

        return anyio.run(answered)

    asked = iter([each["id"] for each in sent("ask", {"count": 10})["decisions"]])
    yield "an HTTP `ask`", lambda: sent("ask", {})
    yield "an HTTP `tell`", lambda: sent("tell", [{"id": next(asked), "reward": 1}])


def own_classes() -> list[type]:
    """Every class that a module of the library defines."""
    import dpbandits

    found = list[type]()
    for module in pkgutil.walk_packages(dpbandits.__path__, "dpbandits."):
        if module.name != "dpbandits.__main__":
            names = vars(import_module(module.name))
            found += [
                c for c in names.values() if inspect.isclass(c) and c.__module__ == module.name
            ]
    return found


def depth(cls: type) -> int:
    """How many classes of ours a class is made of, itself not counted, along its longest line."""
    return max((1 + depth(base) for base in cls.__bases__ if is_own(base)), default=0)


def is_own(cls: type) -> bool:
    return cls.__module__.split(".")[0] == "dpbandits"


def words_of_markdown() -> int:
    """Words of all pages but the proofs."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True)
    pages = [ROOT / name for name in listed.stdout.decode().split("\n") if name]
    return sum(len(p.read_text("utf-8").split()) for p in pages if "proofs" not in p.parts)


def main() -> None:
    import dpbandits as dpb

    packages = by_package()
    print("| package | statements | files | lines |\n|---|---|---|---|")
    for name, row in sorted(packages.items(), key=lambda item: -item[1][0]):
        print(f"| {name} | {row[0]:,} | {row[1]} | {row[2]:,} |")
    for title, names in (("computational half", HALF), ("all", packages)):
        total = [sum(packages[name][i] for name in names) for i in range(3)]
        print(f"| **{title}** | {total[0]:,} | {total[1]} | {total[2]:,} |")
    classes, text = own_classes(), [p.read_text("utf-8") for p in SOURCE.rglob("*.py")]
    deepest = max(classes, key=depth)
    print("\n| measure | |\n|---|---|")
    print(f"| own modules loaded by `import dpbandits` | {loaded_by_import()} |")
    for what, call in calls():
        print(f"| files that run in {what} | {len(files_run_in(call))} |")
    print(f"| own classes above `Session` | {depth(dpb.Session)} |")
    print(f"| deepest own inheritance | {depth(deepest)} (`{deepest.__name__}`) |")
    print(f"| metaclasses | {sum('metaclass=' in each for each in text)} |")
    frames = ("_getframe", "tb_frame", "f_back", "settrace", "setprofile", "dis.")
    print(
        f"| files that use frames or tracing | {sum(any(f in t for f in frames) for t in text)} |"
    )
    print(f"| words of Markdown outside of proofs | {words_of_markdown():,} |")


if __name__ == "__main__":
    main()
