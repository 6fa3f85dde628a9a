"""How often randomised response says the truth, in whole numbers: every machine computes the
same.
"""

from fractions import Fraction

PRECISION = 2**128
"""What stands for 1 in the sum."""

CERTAIN = Fraction(40)
"""Beyond this epsilon nothing changes any more: e^-40 < 2^-53."""


def truth(epsilon: Fraction) -> int:
    """The chance to say the truth, in parts of 2^64: a multiple of 2^11, so that 53-bit coins land
    with it, too.

    It is never above 1/(1 + e^−epsilon): each term of the series of e^epsilon is rounded down, and
    then the quotient. It is at least one half.

    >>> truth(Fraction(1)) / 2**64, 2**64 - truth(Fraction(99))
    (0.7310585786300048, 2048)
    """
    price = min(epsilon, CERTAIN)
    term = growth = PRECISION
    turn = 0
    while term:
        turn += 1
        term = term * price.numerator // (price.denominator * turn)
        growth += term
    return 2**53 * growth // (growth + PRECISION) * 2**11
