"""Mechanisms: the only code that turns exact sums into released values (see `vault`)."""

from dpbandits.mechanisms.base import (
    Answer,
    Block,
    Choice,
    EachAction,
    EachArm,
    Exact,
    GaussianBatches,
    LazyCumulative,
    LazyForgetful,
    Mechanism,
    NoisyMax,
    PureDP,
    Separable,
    SeparableDP,
    WeightedArms,
)
from dpbandits.mechanisms.counters import (
    BinaryTree,
    Hybrid,
    Logarithmic,
    SignedCounter,
    SignedTree,
    SquareRoot,
)
from dpbandits.mechanisms.joint import JointAnswer, JointBatch
from dpbandits.mechanisms.randomizers import LocalLaplace, RandomizedResponse, Randomizer, Report
from dpbandits.mechanisms.sparse_vector import AboveThreshold, Comparisons, Halt

__all__ = [
    "AboveThreshold",
    "Answer",
    "BinaryTree",
    "Block",
    "Choice",
    "Comparisons",
    "EachAction",
    "EachArm",
    "Exact",
    "GaussianBatches",
    "Halt",
    "Hybrid",
    "JointAnswer",
    "JointBatch",
    "LazyCumulative",
    "LazyForgetful",
    "LocalLaplace",
    "Logarithmic",
    "Mechanism",
    "NoisyMax",
    "PureDP",
    "RandomizedResponse",
    "Randomizer",
    "Report",
    "Separable",
    "SeparableDP",
    "SignedCounter",
    "SignedTree",
    "SquareRoot",
    "WeightedArms",
]
