// Scalar special functions in double precision, about 1e-14 relative unless said otherwise.
#pragma once

namespace flambeau::special {

double digamma(double x);
double trigamma(double x);
double zeta(double s, double q);  // Hurwitz, sum over (q + k)^-s
double polygamma(long n, double x);
double gammainc(double a, double x);   // regularised lower incomplete gamma
double gammaincc(double a, double x);  // 1 - gammainc
double erfcx(double x);                // exp(x^2) erfc(x)
double log_ndtr(double x);
double ndtri(double p);
double erfinv(double y);
double i0e(double x);  // exp(-|x|) I_0(x)
double i1e(double x);
double i0(double x);
double i1(double x);
double airy_ai(double x);

}  // namespace flambeau::special
