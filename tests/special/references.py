"""Exact values of the special functions in multiprecision arithmetic."""

from mpmath import mp, mpf

mp.dps = 50


def erfcx(x):
    if x > 1e4:
        return 1 / (x * mp.sqrt(mp.pi)) * (1 - 1 / (2 * x * x))
    if x < -1e3:
        return mp.inf
    with mp.workdps(60):
        return mp.exp(x * x) * mp.erfc(x)


def logerfc(x):
    if x > 1e4:
        return -x * x + mp.log(erfcx(x))
    return mp.log1p(-mp.erf(x)) if x < 1 else mp.log(mp.erfc(x))


def logerfcx(x):
    if x > 1e4:
        return mp.log(erfcx(x))
    return x * x + logerfc(x)


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2 if abs(x) < 1e4 else mpf(x > 0)


def log_ndtr(x):
    if x < -1e4:
        return -x * x / 2 + mp.log(erfcx(-x / mp.sqrt(2)) / 2)
    if x > 1e4:
        return mpf(0)
    return mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2) if x > 0 else mp.log(ndtr(x))


def erfinv(x):
    if abs(x) > 1:
        return mp.nan
    if abs(x) < mpf("1e-8"):
        return x * mp.sqrt(mp.pi) / 2 * (1 + mp.pi * x * x / 12)
    return mp.erfinv(x)


def ndtri(p):
    if not 0 < p < 1:
        return mp.nan
    if p > mpf("1e-3"):
        return mp.sqrt(2) * mp.erfinv(2 * p - 1)
    start = -mp.sqrt(-2 * mp.log(p))
    return mp.findroot(lambda x: log_ndtr(x) - mp.log(p), start)


def gammaln(x):
    if x > 1e8:
        return (x - mpf(1) / 2) * mp.log(x) - x + mp.log(2 * mp.pi) / 2 + 1 / (12 * x)
    if x < 0:
        if x == mp.floor(x):
            return mp.inf
        return mp.log(mp.pi / abs(mp.sinpi(x))) - gammaln(1 - x)
    return mp.loggamma(x)


def digamma(x):
    if abs(x) > 1e8:
        return mp.log(x) - 1 / (2 * x) if x > 0 else mp.nan
    return mp.digamma(x) if x > 0 or x != mp.floor(x) else mp.nan


def polygamma(n, x):
    if x > 1e8:
        return (-1) ** (n + 1) * (mp.factorial(n - 1) / x**n + mp.factorial(n) / (2 * x ** (n + 1)))
    if x > 0:
        return mp.psi(n, x)
    if x == mp.floor(x):
        return mp.inf if n % 2 == 1 else -mp.inf
    # psi_n(x) = (-1)^(n+1) n! sum (x + k)^-(n+1), the terms below zero one by one.
    below = int(-mp.floor(x))
    negative = sum((x + k) ** (-n - 1) for k in range(below))
    return (-1) ** (n + 1) * mp.factorial(n) * negative + mp.psi(n, x + below)


def gammainc(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def entr(x):
    return -x * mp.log(x) if x > 0 else mpf("-inf")


def logit(x):
    return mp.log(x / (1 - x)) if 0 < x < 1 else mp.nan


def bessel(function, order):
    def reference(x):
        if x < 0 and function in (mp.bessely, mp.besselk):
            return mp.nan
        return function(order, x)

    return reference


def scaled_i(order):
    def reference(x):
        a = abs(x)
        if a > 1e3:
            mu = 4 * mpf(order) ** 2
            t, total = mpf(1), mpf(1)
            for k in range(1, 12):
                t *= -(mu - (2 * k - 1) ** 2) / (8 * k * a)
                total += t
            y = total / mp.sqrt(2 * mp.pi * a)
        else:
            y = mp.besseli(order, a) * mp.exp(-a)
        return -y if x < 0 and order % 2 == 1 else y

    return reference


def plain_i(order):
    return lambda x: (
        mp.besseli(order, x) if abs(x) < 1e3 else (mp.inf if x > 0 or order % 2 == 0 else -mp.inf)
    )


def scaled_k(order):
    def reference(x):
        if x < 0:
            return mp.nan
        if x > 1e3:
            mu = 4 * mpf(order) ** 2
            t, total = mpf(1), mpf(1)
            for k in range(1, 12):
                t *= (mu - (2 * k - 1) ** 2) / (8 * k * x)
                total += t
            return total * mp.sqrt(mp.pi / (2 * x))
        return mp.besselk(order, x) * mp.exp(x)

    return reference


def plain_k(order):
    return lambda x: mp.nan if x < 0 else mpf(0) if x > 1e3 else mp.besselk(order, x)


def spherical_j0(x):
    return mp.sin(x) / x


def airy_ai(x):
    return mpf(0) if x > 1e3 else mp.airyai(x)


# ---- of two arguments ----


def hurwitz(s, q):
    """The zeta function by direct summation and Euler-Maclaurin with relative accuracy."""
    total, count = mpf(0), max(30, int(s))
    for k in range(count):
        term = (q + k) ** (-s)
        total += term
        if term * (1 + (q + k) / (s - 1)) <= total * mpf("1e-35"):
            return total
    a = q + count
    total += a ** (1 - s) / (s - 1) + a ** (-s) / 2
    factor = s * a ** (-s - 1)
    for k in range(1, 25):
        total += mp.bernoulli(2 * k) / mp.factorial(2 * k) * factor
        factor *= (s + 2 * k - 1) * (s + 2 * k) / (a * a)
    return total


def iv(v, x):
    return mp.besseli(v, x)


def ive(v, x):
    return mp.besseli(v, x) * mp.exp(-abs(x))


def recurrence(first, step):
    def polynomial(x, n):
        n = int(n)
        if n == 0:
            return mpf(1)
        before, now = mpf(1), first(x)
        for k in range(1, n):
            before, now = now, step(k, x, now, before)
        return now

    return polynomial


def chebyshev(first):
    return recurrence(first, lambda k, x, p, q: 2 * x * p - q)


POLYNOMIALS = {
    "chebyshev_polynomial_t": chebyshev(lambda x: x),
    "chebyshev_polynomial_u": chebyshev(lambda x: 2 * x),
    "chebyshev_polynomial_v": chebyshev(lambda x: 2 * x - 1),
    "chebyshev_polynomial_w": chebyshev(lambda x: 2 * x + 1),
    "hermite_polynomial_h": recurrence(lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": recurrence(lambda x: x, lambda k, x, p, q: x * p - k * q),
    "laguerre_polynomial_l": recurrence(
        lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)
    ),
    "legendre_polynomial_p": recurrence(
        lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)
    ),
}
for _kind in "tuvw":
    POLYNOMIALS[f"shifted_chebyshev_polynomial_{_kind}"] = (
        lambda x, n, plain=POLYNOMIALS[f"chebyshev_polynomial_{_kind}"]: plain(2 * x - 1, n)
    )
