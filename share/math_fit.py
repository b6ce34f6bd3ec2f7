#!/usr/bin/env python3
"""Polynomials of share/ptxloom/include/ptxloom/math_poly.h, which this prints: interpolation at the
Chebyshev nodes of the interval, in 60 digits, rounded to f64 from the highest coefficient down."""
from mpmath import mp, mpf, cos, pi, sin, exp, log, atan, atanh, asin, sqrt, erfc, erf, gamma, loggamma, matrix, lu_solve
import mpmath

mp.dps = 60

HEAD = """/*
 * Polynomials of the device's math functions, made by share/math_fit.py: Horner's scheme with fma.
 * The comment of each says what it approximates, where, and its error before rounding.
 */
#ifndef PTXLOOM_MATH_POLY_H
#define PTXLOOM_MATH_POLY_H
"""


def fit(f, a, b, degree):
    a, b = mpf(a), mpf(b)
    n = degree + 1
    nodes = [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    table = [f(x) for x in nodes]
    # Newton's divided differences, then expanded to powers of x.
    d = list(table)
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            d[i] = (d[i] - d[i - 1]) / (nodes[i] - nodes[i - j])
    coefs = [d[n - 1]]
    for i in range(n - 2, -1, -1):
        new = [mpf(0)] * (len(coefs) + 1)
        for k, c in enumerate(coefs):
            new[k + 1] += c
            new[k] -= c * nodes[i]
        new[0] += d[i]
        coefs = new
    return coefs


def emit(name, text, f, a, b, degree, scale=None):
    coefs = fit(f, a, b, degree)
    worst = mpf(0)
    for i in range(1001):
        x = mpf(a) + (mpf(b) - mpf(a)) * i / 1000
        if x == 0:
            continue
        e = abs(sum(c * x ** k for k, c in enumerate(coefs)) - f(x)) / (scale(x) if scale else abs(f(x)))
        worst = max(worst, e)
    print("\n/* %s for x in [%s, %s]; %s. */" % (text, mpmath.nstr(mpf(a), 4), mpmath.nstr(mpf(b), 4),
                                              mpmath.nstr(worst, 2)))
    print("PTXLOOM_MATH double ptxloom_poly_%s(double x)\n{" % name)
    print("\tdouble p = %s;\n" % repr(float(coefs[-1])))
    for c in reversed(coefs[:-1]):
        print("\tp = ptxloom_fma(p, x, %s);" % repr(float(c)))
    print("\treturn p;\n}")


def ser(g, small):
    """g, with its limit's neighbourhood taken a little away from zero."""
    return lambda x: g(x if abs(x) > mpf(10) ** -18 else mpf(10) ** -18)


def main():
    print(HEAD, end="")
    h = mpf("0.3466")
    emit("exp", "(e^x - 1 - x) / x^2", ser(lambda x: (exp(x) - 1 - x) / x**2, 0), -h, h, 10,
         lambda x: exp(x) / x**2)
    emit("expf", "(e^x - 1 - x) / x^2", ser(lambda x: (exp(x) - 1 - x) / x**2, 0), -h, h, 5,
         lambda x: exp(x) / x**2)
    q = (pi / 4) ** 2 * mpf("1.0001")
    emit("sin", "(sin(r) / r - 1) / x, r^2 = x", lambda x: (sin(sqrt(x)) / sqrt(x) - 1) / x, mpf(10)**-12, q, 6,
         lambda x: 1 / x)
    emit("cos", "(cos(r) - 1 + x / 2) / x^2, r^2 = x",
         lambda x: (cos(sqrt(x)) - 1 + x / 2) / x**2, mpf(10)**-12, q, 6, lambda x: 1 / x**2)
    emit("sinf", "(sin(r) / r - 1) / x, r^2 = x", lambda x: (sin(sqrt(x)) / sqrt(x) - 1) / x, mpf(10)**-12, q, 3,
         lambda x: 1 / x)
    emit("cosf", "(cos(r) - 1 + x / 2) / x^2, r^2 = x",
         lambda x: (cos(sqrt(x)) - 1 + x / 2) / x**2, mpf(10)**-12, q, 3, lambda x: 1 / x**2)
    z = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.0001")
    emit("log", "(2 atanh(s) / s - 2 - 2 x / 3) / x^2, s^2 = x",
         lambda x: (2 * atanh(sqrt(x)) / sqrt(x) - 2 - 2 * x / 3) / x**2, mpf(10)**-10, z, 7,
         lambda x: 2 / x**2)
    emit("logf", "(2 atanh(s) / s - 2) / x, s^2 = x",
         lambda x: (2 * atanh(sqrt(x)) / sqrt(x) - 2) / x, mpf(10)**-10, z, 4, lambda x: 2 / x)
    emit("atan", "(atan(r) / r - 1) / x, r^2 = x", lambda x: (atan(sqrt(x)) / sqrt(x) - 1) / x,
         mpf(10)**-12, mpf(1), 20, lambda x: atan(sqrt(x)) / sqrt(x) / x)
    emit("atanf", "(atan(r) / r - 1) / x, r^2 = x", lambda x: (atan(sqrt(x)) / sqrt(x) - 1) / x,
         mpf(10)**-12, mpf(1), 10, lambda x: atan(sqrt(x)) / sqrt(x) / x)
    emit("asin", "(asin(r) / r - 1) / x, r^2 = x", lambda x: (asin(sqrt(x)) / sqrt(x) - 1) / x,
         mpf(10)**-12, mpf("0.2501"), 12, lambda x: 1 / x)
    emit("asinf", "(asin(r) / r - 1) / x, r^2 = x", lambda x: (asin(sqrt(x)) / sqrt(x) - 1) / x,
         mpf(10)**-12, mpf("0.2501"), 6, lambda x: 1 / x)

    def erfcx_t(t):
        x = 4 * (1 + t) / (1 - t) if t < 1 else mpf(10) ** 30
        if x > 60:
            # Asymptotic: erfcx(x) = 1 / (x sqrt(pi)) sum (-1)^n (2n - 1)!! / (2 x^2)^n
            s, term = mpf(0), mpf(1)
            for n in range(60):
                s += term
                term *= -(2 * n + 1) / (2 * x * x)
            v = s / (x * sqrt(pi))
        else:
            v = exp(x * x) * erfc(x)
        return v * (1 + 2 * x)
    emit("erfcx", "(1 + 2 v) e^(v^2) erfc(v), v = 4 (1 + x) / (1 - x)", erfcx_t, -1, 1, 24)
    emit("erf", "erf(r) / r, r^2 = x", lambda x: erf(sqrt(x)) / sqrt(x), mpf(10)**-12, mpf("1.0001"), 12)
    emit("gamma", "gamma(1.5 + x)", lambda x: gamma(mpf("1.5") + x), mpf("-0.5"), mpf("0.5"), 21)

    def lg(x):
        u = mpf("1.5") + x
        if abs(u - 1) < mpf(10)**-25 or abs(u - 2) < mpf(10)**-25:
            u += mpf(10)**-25
        return loggamma(u) / ((u - 1) * (u - 2))
    emit("lgamma", "log(gamma(v)) / ((v - 1) (v - 2)), v = 1.5 + x", lg, mpf("-0.75"), mpf("0.75"), 28)
    emit("cbrt", "x^(1/3), a first guess", lambda x: mpmath.cbrt(x), mpf(1), mpf(8), 7)

    def icdf(s):
        # Root of erfc(v) = e^(-s^2) for v >= 0, divided by s.
        y = exp(-s * s)
        v = s
        v = mpmath.findroot(lambda t: mpmath.log(erfc(t)) + s * s, (s * mpf("0.97"), s * mpf("0.9") + mpf("0.001")))
        return v / s
    mp.dps = 30
    emit("erfinv", "erfinv(r) / r, r^2 = x", lambda x: mpmath.erfinv(sqrt(x)) / sqrt(x), mpf(10)**-12, mpf("0.2501"), 14)
    emit("erfcinv", "v / s with erfc(v) = e^(-s^2), s = 0.8 + 3.5 (1 + x): a first guess",
         lambda x: icdf(mpf("0.8") + mpf("3.5") * (1 + x)), -1, 1, 12)
    emit("erfcinv_far", "v / s with erfc(v) = e^(-s^2), s = 7.5 + 10 (1 + x): a first guess",
         lambda x: icdf(mpf("7.5") + 10 * (1 + x)), -1, 1, 8)
    print("\n#endif")


main()
