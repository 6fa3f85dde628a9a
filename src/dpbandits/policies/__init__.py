"""Every policy, one family a module. `POLICIES` is the table of them."""

from dpbandits.policies.changing import DPKalmanTS, KalmanTS
from dpbandits.policies.contextual import AdaCOFUL, DPLinTS, DPLinUCB, LinTS, LinUCB
from dpbandits.policies.contract import Policy
from dpbandits.policies.cumulative import DPIMED, DPKLUCB, DPRateIMED
from dpbandits.policies.every_round import (
    DPUCB,
    KLUCB,
    LDPKLUCB,
    LDPUCB,
    UCB1,
    DPUCBBound,
    HybridUCB,
)
from dpbandits.policies.experts import (
    RNMFTNL,
    DecreasingHedge,
    FollowTheLeader,
    NaiveFTNL,
    PrefixExponential,
    RootFTRL,
    TreeFTRL,
)
from dpbandits.policies.forgetful import (
    AdaCUCB,
    AdaPKLUCB,
    AdaPUCB,
    AnytimeLazyUCB,
    LazyDPTS,
    ThompsonBeta,
)
from dpbandits.policies.identification import (
    CTBTT,
    DPSE,
    AdaPTT,
    SparseVectorSE,
    SuccessiveElimination,
)
from dpbandits.policies.joint import DPJointCUCB, DPJointMAT
from dpbandits.policies.joint_contexts import JointDPLinTS
from dpbandits.policies.matroid import DPKLMAT, DPTSMAT, DPUCBMAT, KLOSM, OMM, CTSBeta, CTSGaussian
from dpbandits.policies.stopping import DPNAS, NAS, DPExponentialNAS
from dpbandits.policies.super_arms import (
    CUCB,
    CUCBDP,
    CUCBLDP1,
    CUCBLDP2,
    DPKLCUCB,
    CUCBDPMax,
    LazyCUCB,
)

POLICIES: dict[str, type[Policy]] = {
    cls.__name__: cls
    for cls in (
        ThompsonBeta,
        KLUCB,
        UCB1,
        KalmanTS,
        DecreasingHedge,
        FollowTheLeader,
        SuccessiveElimination,
        KLOSM,
        OMM,
        CTSBeta,
        CTSGaussian,
        NAS,
        CUCB,
        DPIMED,
        DPKLUCB,
        AdaCUCB,
        AdaPKLUCB,
        AdaPUCB,
        AnytimeLazyUCB,
        DPRateIMED,
        DPKalmanTS,
        LazyDPTS,
        DPUCB,
        DPUCBBound,
        HybridUCB,
        LDPKLUCB,
        LDPUCB,
        TreeFTRL,
        RootFTRL,
        RNMFTNL,
        NaiveFTNL,
        PrefixExponential,
        DPSE,
        SparseVectorSE,
        CTBTT,
        AdaPTT,
        DPJointMAT,
        DPTSMAT,
        DPUCBMAT,
        DPKLMAT,
        DPNAS,
        DPExponentialNAS,
        DPKLCUCB,
        LazyCUCB,
        DPJointCUCB,
        CUCBLDP1,
        CUCBLDP2,
        CUCBDP,
        CUCBDPMax,
    )
}
"""By name; those without privacy come first."""

CONTEXTUAL: dict[str, type[Policy]] = {
    cls.__name__: cls for cls in (LinTS, LinUCB, AdaCOFUL, DPLinTS, DPLinUCB, JointDPLinTS)
}
"""Those that decide by a context, by name. They are asked by `ask(context=[…])`."""

__all__ = [
    "CONTEXTUAL",
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
    "AdaCOFUL",
    "AdaCUCB",
    "AdaPKLUCB",
    "AdaPTT",
    "AdaPUCB",
    "AnytimeLazyUCB",
    "CTSBeta",
    "CTSGaussian",
    "CUCBDPMax",
    "DPExponentialNAS",
    "DPJointCUCB",
    "DPJointMAT",
    "DPKalmanTS",
    "DPLinTS",
    "DPLinUCB",
    "DPRateIMED",
    "DPUCBBound",
    "DecreasingHedge",
    "FollowTheLeader",
    "HybridUCB",
    "JointDPLinTS",
    "KalmanTS",
    "LazyCUCB",
    "LazyDPTS",
    "LinTS",
    "LinUCB",
    "NaiveFTNL",
    "PrefixExponential",
    "RootFTRL",
    "SparseVectorSE",
    "SuccessiveElimination",
    "ThompsonBeta",
    "TreeFTRL",
]
