/*
 * Discrete Fourier transforms of any length on the host, in f64.
 */
#ifndef PL_HOSTLIBS_FFT_H
#define PL_HOSTLIBS_FFT_H

#include "src/hostlibs/number.h"

struct hl_fft;

/* Transforms of n >= 1 numbers; NULL without memory. */
struct hl_fft *hl_fft_new(s64 n);
void hl_fft_free(struct hl_fft *f);
/*
 * In place: x[k] becomes the sum of x[j] exp(sign 2 pi i jk / n), sign being 1 or -1. Not by
 * several threads at once.
 */
void hl_fft_run(struct hl_fft *f, struct hl_number *x, int sign);

#endif
