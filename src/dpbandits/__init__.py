"""Differentially private online decisions: bandit policies, exact simulation and a session for real use."""

from dpbandits.environments import Bernoulli, Beta, Categorical, Environment, LoggedReplay, Table, Uniform
from dpbandits.noise import SecureNoise, SimulatedNoise
from dpbandits.policies import (
    DPIMED,
    DPKLUCB,
    DPSE,
    DPUCB,
    KLUCB,
    LDPKLUCB,
    LDPUCB,
    UCB1,
    AdaCUCB,
    AdaPKLUCB,
    AdaPUCB,
    AnytimeLazyUCB,
    DPUCBBound,
    HybridUCB,
    LazyDPTS,
    NoiseAwareTS,
    SuccessiveElimination,
    ThompsonBeta,
)
from dpbandits.privacy import Entry, Grid, Guarantee, spent
from dpbandits.session import Decision, DecisionError, Session
from dpbandits.simulate import Runs, simulate
from dpbandits.theory import lower_bound, upper_bound
from dpbandits.catalogue import policies
from dpbandits.mechanisms.rewards import RewardError

from dpbandits.version import __version__
