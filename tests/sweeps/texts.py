"""Small sweep files."""

COINS = 'law = "bernoulli"\nmeans = [{}]'


def sweep_text(
    *policies: str,
    rounds: int,
    runs: int,
    means: str = "0.7, 0.5",
    law: str = COINS,
    head: str = "",
    name: str = "x",
) -> str:
    """One environment, and policies. Each is its class, with further lines of its table below it;
    law and head are lines of the environment and of the whole.
    """
    tables = [policy.partition("\n") for policy in policies]
    return (
        f'name = "{name}"\ntitle = "{name}"\nrounds = {rounds}\nruns = {runs}\n{head}\n'
        f'[[environments]]\nname = "two arms"\n{law.replace("{}", means)}\n'
        + "".join(f'[[policies]]\nclass = "{cls}"\n{more}\n' for cls, _, more in tables)
    )
