"""Every policy, one family a file. `POLICIES` is the explicit table: a new algorithm adds its line
here.
"""

from dpbandits.policies.bandit.cumulative import DPIMED, DPKLUCB
from dpbandits.policies.bandit.episodes import AdaCUCB, AdaPKLUCB, AdaPUCB
from dpbandits.policies.bandit.lazy import AnytimeLazyUCB
from dpbandits.policies.bandit.local import LDPKLUCB, LDPUCB
from dpbandits.policies.bandit.noise_aware import NoiseAwareTS
from dpbandits.policies.bandit.thompson import LazyDPTS, ThompsonBeta
from dpbandits.policies.bandit.tree import DPUCB, DPUCBBound, HybridUCB
from dpbandits.policies.bandit.ucb import KLUCB, UCB1
from dpbandits.policies.contract import Policy
from dpbandits.policies.experts.leaders import DecreasingHedge, FollowTheLeader, TreeFTRL
from dpbandits.policies.experts.noisy_leader import RNMFTNL, NaiveFTNL, PrefixExponential
from dpbandits.policies.identification.elimination import DPSE, SuccessiveElimination
from dpbandits.policies.identification.top_two import CTBTT, AdaPTT
from dpbandits.policies.matroid.lazy import DPTSMAT, DPUCBMAT
from dpbandits.policies.matroid.optimistic import DPKLMAT, KLOSM, OMM
from dpbandits.policies.matroid.sampling import CTSBeta, CTSGaussian, NoiseAwareMAT
from dpbandits.policies.stopping.empirical import DPNAS, NAS, DPExponentialNAS
from dpbandits.policies.super_arms.cucb import CUCB, DPKLCUCB, LazyCUCB
from dpbandits.policies.super_arms.local import CUCBLDP1, CUCBLDP2
from dpbandits.policies.super_arms.tree import CUCBDP, CUCBDPMax

POLICIES: dict[str, type[Policy]] = {
    cls.__name__: cls
    for cls in (
        UCB1,
        KLUCB,
        ThompsonBeta,
        SuccessiveElimination,
        DPSE,
        AdaPTT,
        CTBTT,
        DPUCB,
        DPUCBBound,
        AnytimeLazyUCB,
        HybridUCB,
        LazyDPTS,
        AdaPUCB,
        AdaPKLUCB,
        DPKLUCB,
        NoiseAwareTS,
        DPIMED,
        AdaCUCB,
        LDPUCB,
        LDPKLUCB,
        FollowTheLeader,
        DecreasingHedge,
        RNMFTNL,
        NaiveFTNL,
        PrefixExponential,
        TreeFTRL,
        NAS,
        DPNAS,
        DPExponentialNAS,
        CUCB,
        CUCBLDP1,
        CUCBLDP2,
        CUCBDP,
        CUCBDPMax,
        LazyCUCB,
        DPKLCUCB,
        OMM,
        KLOSM,
        CTSBeta,
        CTSGaussian,
        DPUCBMAT,
        DPTSMAT,
        DPKLMAT,
        NoiseAwareMAT,
    )
}

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
    "POLICIES",
    "RNMFTNL",
    "UCB1",
    "AdaCUCB",
    "AdaPKLUCB",
    "AdaPTT",
    "AdaPUCB",
    "AnytimeLazyUCB",
    "CTSBeta",
    "CTSGaussian",
    "CUCBDPMax",
    "DPExponentialNAS",
    "DPUCBBound",
    "DecreasingHedge",
    "FollowTheLeader",
    "HybridUCB",
    "LazyCUCB",
    "LazyDPTS",
    "NaiveFTNL",
    "NoiseAwareMAT",
    "NoiseAwareTS",
    "PrefixExponential",
    "SuccessiveElimination",
    "ThompsonBeta",
    "TreeFTRL",
]
