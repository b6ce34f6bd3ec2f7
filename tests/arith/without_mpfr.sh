# Stands for tests/arith/arith where configure found no MPFR.
echo "1..1"
echo "ok 1 - arithmetic against MPFR # SKIP no MPFR (libmpfr-dev)"
