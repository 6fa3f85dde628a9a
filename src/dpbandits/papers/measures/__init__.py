"""What claims measure, by name."""

from collections.abc import Callable

from dpbandits.papers.measures import (
    bases,
    growth,
    lower,
    oracle,
    returns,
    sizes,
    stopping_times,
    verdicts,
)
from dpbandits.papers.measures.verdicts import Check

MEASURES: dict[str, Callable[..., list[Check]]] = {
    measure.__name__: measure
    for measure in (
        verdicts.regret_ratio,
        verdicts.lowest,
        verdicts.similar,
        verdicts.late_share,
        verdicts.spread_over_epsilon,
        verdicts.falls_with_epsilon,
        growth.growth,
        growth.follows_rate,
        growth.environment_ratio,
        growth.ratio_growth,
        growth.between_bounds,
        lower.over_paths_bound,
        sizes.size_growth,
        returns.share_of_optimum,
        returns.return_ratio,
        returns.price_ratio,
        returns.price_between_environments,
        returns.log_rate,
        returns.straight_line,
        oracle.way_to_oracle,
        bases.shared_with_best,
        stopping_times.halts_right,
        stopping_times.stops_in_time,
        stopping_times.extra_values_slope,
    )
}
