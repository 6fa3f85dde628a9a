"""Differentially private online decisions: bandit policies, exact simulation and a session for real
use.
"""

from typing import TYPE_CHECKING

from dpbandits.auditing.report import AuditReport
from dpbandits.core.errors import (
    BudgetError,
    CheckFailed,
    ConfigError,
    DamagedCellError,
    DamagedSessionError,
    DataError,
    DecisionError,
    Diverged,
    EditedRowsError,
    EnvironmentExhausted,
    Error,
    HorizonError,
    LedgerError,
    MessageError,
    MissingDataError,
    NameTakenError,
    NotForThisKeyError,
    NotRecordedError,
    OracleCheckFailed,
    RequestsDiffer,
    RewardError,
    SharedError,
    StoreError,
    UnknownCampaignError,
    UnlearnedError,
    WitnessError,
    WorkerError,
)
from dpbandits.core.privacy import Entry, Grid, Guarantee, spent
from dpbandits.environments import (
    Bernoulli,
    Beta,
    Categorical,
    Environment,
    LoggedReplay,
    SharedCoins,
    Table,
    Uniform,
)
from dpbandits.forecasting.outcome import Forecast
from dpbandits.forecasting.prior import Prior
from dpbandits.local.client import Client
from dpbandits.mechanisms import Report
from dpbandits.noise.sources import SecureNoise, SimulatedNoise
from dpbandits.oracles import (
    Coverage,
    DecisionSet,
    ExplicitMatroid,
    ExplicitSet,
    GraphicMatroid,
    Influence,
    LinearMatroid,
    Matchings,
    Matroid,
    PartitionMatroid,
    Paths,
    SpanningTrees,
    TopK,
    TopKMax,
    TransversalMatroid,
    UniformMatroid,
    UserDecisionSet,
)
from dpbandits.policies import (
    CTBTT,
    CUCB,
    CUCBDP,
    CUCBLDP1,
    CUCBLDP2,
    DPIMED,
    DPKLCUCB,
    DPKLMAT,
    DPKLUCB,
    DPNAS,
    DPSE,
    DPTSMAT,
    DPUCB,
    DPUCBMAT,
    KLOSM,
    KLUCB,
    LDPKLUCB,
    LDPUCB,
    NAS,
    OMM,
    RNMFTNL,
    UCB1,
    AdaCUCB,
    AdaPKLUCB,
    AdaPTT,
    AdaPUCB,
    AnytimeLazyUCB,
    CTSBeta,
    CTSGaussian,
    CUCBDPMax,
    DecreasingHedge,
    DPExponentialNAS,
    DPJointCUCB,
    DPJointMAT,
    DPRateIMED,
    DPUCBBound,
    FollowTheLeader,
    HybridUCB,
    LazyCUCB,
    LazyDPTS,
    NaiveFTNL,
    PrefixExponential,
    SparseVectorSE,
    SuccessiveElimination,
    ThompsonBeta,
    TreeFTRL,
)
from dpbandits.policies.contract import Policy
from dpbandits.policies.recommended import recommend
from dpbandits.service.opening import open_store
from dpbandits.session.beliefs import Beliefs
from dpbandits.session.decisions import Decision
from dpbandits.session.estimator import Estimate, Estimator, estimate
from dpbandits.session.guardrail import Guardrail
from dpbandits.session.ranges import Range
from dpbandits.session.segments import SegmentedSession
from dpbandits.session.session import Session
from dpbandits.session.state import SessionEvent
from dpbandits.simulation.delays import DelayLaw, FixedDelay, GeometricDelay, UniformDelay
from dpbandits.simulation.runs import Runs
from dpbandits.simulation.simulate import simulate
from dpbandits.simulation.stopping import Estimates, Identification, estimates, identify
from dpbandits.theory import (
    instance_independent_bound,
    list_policies,
    lower_bound,
    regret_order,
    shariff_sheffet,
    stopping_time_bound,
    upper_bound,
)
from dpbandits.version import __version__

if TYPE_CHECKING:
    from dpbandits.auditing.audit import audit
    from dpbandits.forecasting.forecast import forecast

__all__ = [
    "CTBTT",
    "CUCB",
    "CUCBDP",
    "CUCBLDP1",
    "CUCBLDP2",
    "DPIMED",
    "DPKLCUCB",
    "DPKLMAT",
    "DPKLUCB",
    "DPNAS",
    "DPSE",
    "DPTSMAT",
    "DPUCB",
    "DPUCBMAT",
    "KLOSM",
    "KLUCB",
    "LDPKLUCB",
    "LDPUCB",
    "NAS",
    "OMM",
    "RNMFTNL",
    "UCB1",
    "AdaCUCB",
    "AdaPKLUCB",
    "AdaPTT",
    "AdaPUCB",
    "AnytimeLazyUCB",
    "AuditReport",
    "Beliefs",
    "Bernoulli",
    "Beta",
    "BudgetError",
    "CTSBeta",
    "CTSGaussian",
    "CUCBDPMax",
    "Categorical",
    "CheckFailed",
    "Client",
    "ConfigError",
    "Coverage",
    "DPExponentialNAS",
    "DPJointCUCB",
    "DPJointMAT",
    "DPRateIMED",
    "DPUCBBound",
    "DamagedCellError",
    "DamagedSessionError",
    "DataError",
    "Decision",
    "DecisionError",
    "DecisionSet",
    "DecreasingHedge",
    "DelayLaw",
    "Diverged",
    "EditedRowsError",
    "Entry",
    "Environment",
    "EnvironmentExhausted",
    "Error",
    "Estimate",
    "Estimates",
    "Estimator",
    "ExplicitMatroid",
    "ExplicitSet",
    "FixedDelay",
    "FollowTheLeader",
    "Forecast",
    "GeometricDelay",
    "GraphicMatroid",
    "Grid",
    "Guarantee",
    "Guardrail",
    "HorizonError",
    "HybridUCB",
    "Identification",
    "Influence",
    "LazyCUCB",
    "LazyDPTS",
    "LedgerError",
    "LinearMatroid",
    "LoggedReplay",
    "Matchings",
    "Matroid",
    "MessageError",
    "MissingDataError",
    "NaiveFTNL",
    "NameTakenError",
    "NotForThisKeyError",
    "NotRecordedError",
    "OracleCheckFailed",
    "PartitionMatroid",
    "Paths",
    "Policy",
    "PrefixExponential",
    "Prior",
    "Range",
    "Report",
    "RequestsDiffer",
    "RewardError",
    "Runs",
    "SecureNoise",
    "SegmentedSession",
    "Session",
    "SessionEvent",
    "SharedCoins",
    "SharedError",
    "SimulatedNoise",
    "SpanningTrees",
    "SparseVectorSE",
    "StoreError",
    "SuccessiveElimination",
    "Table",
    "ThompsonBeta",
    "TopK",
    "TopKMax",
    "TransversalMatroid",
    "TreeFTRL",
    "Uniform",
    "UniformDelay",
    "UniformMatroid",
    "UnknownCampaignError",
    "UnlearnedError",
    "UserDecisionSet",
    "WitnessError",
    "WorkerError",
    "__version__",
    "audit",
    "estimate",
    "estimates",
    "forecast",
    "identify",
    "instance_independent_bound",
    "list_policies",
    "lower_bound",
    "open_store",
    "recommend",
    "regret_order",
    "shariff_sheffet",
    "simulate",
    "spent",
    "stopping_time_bound",
    "upper_bound",
]


def __getattr__(name: str) -> object:
    """`audit` and `forecast` are imported when they are first asked for: most programs need
    neither.
    """
    if name == "audit":
        from dpbandits.auditing.audit import audit

        return audit
    if name == "forecast":
        from dpbandits.forecasting.forecast import forecast

        return forecast
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
