"""An example of each law of a sweep file. The tests read all of them, and load those that need no
data of the reader's own.
"""


def table(law: str, *lines: str) -> str:
    return "\n".join(
        ["[[environments]]", f'name = "{law.replace("_", " ")}"', f'law = "{law}"', *lines]
    )


LAW_LINES = {
    "bernoulli": ("means = [0.7, 0.5]",),
    "equal_gaps": ("best = 0.6", "gap = 0.1", "arms = 10"),
    "doubling_gaps": ("best = 0.9", "gap = 0.05", "arms = 5"),
    "beta": ("a = [2, 1]", "b = [1, 2]"),
    "uniform": ("low = [0.2, 0.0]", "high = [1.0, 0.8]"),
    "categorical": (
        "values = [0, 0.5, 1]",
        "probabilities = [[0.2, 0.3, 0.5], [0.5, 0.3, 0.2]]",
    ),
    "clinical": ('trial = "depression"',),
    "table": ('path = "rewards.csv"', 'arms = ["red", "blue"]', "resample = true"),
    "upworthy": ('path = "upworthy.csv"', 'test = "51436061220cb800020007fc"'),
    "msweb": ('path = "anonymous-msweb.data"', "areas = 10"),
    "obd": ('path = "obd/random/all"', "items = 10"),
    "obd_rates": ('path = "obd"', 'campaign = "men"'),
    "super_arms": (
        "means = [0.7, 0.6, 0.5, 0.4, 0.3]",
        'problem = { kind = "TopK", arms = 5, k = 2 }',
    ),
    "shared_arms": ("k = 3", "choices = 4", "best = 0.6", "gap = 0.2"),
    "public_arms": ("k = 3", "arms = 12", "gap = 0.6"),
    "k_paths": ("k = 3", "paths = 4", "gap = 0.3", "identical = true"),
    "roads": ('path = "SiouxFalls_net.tntp"', 'source = "1"', 'target = "20"'),
    "isp": ('path = "1221/latencies.intra"',),
    "cascade": ('path = "facebook_combined.txt"', "seeds = 3"),
    "msweb_coverage": ('path = "anonymous-msweb.data"', "k = 3"),
    "films": ('path = "ml-latest-small.zip"', "films = 100", "users = true"),
}

EXAMPLES = {
    "a policy": (
        '[[policies]]\nclass = "HybridUCB"\nlabel = "Hybrid, as published"\npreset = "published"\n'
        'epsilons = [0.5, "1/3"]\nenvironments = ["bernoulli"]\nruns = 20'
    )
} | {law: table(law, *lines) for law, lines in LAW_LINES.items()}
