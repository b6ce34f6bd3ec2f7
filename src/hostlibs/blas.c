/*
 * Finds a BLAS: one that the process has (NumPy brings one), else one of the system.
 */
#include "src/hostlibs/blas.h"

#include <dlfcn.h>
#include <pthread.h>

#define COLUMN_MAJOR 102
#define AS_IT_IS 111

/* cblas_?gemm, with integers of 32 and of 64 bits. */
typedef void sgemm32(int, int, int, int, int, int, f32, const f32 *, int, const f32 *, int, f32,
		     f32 *, int);
typedef void dgemm32(int, int, int, int, int, int, f64, const f64 *, int, const f64 *, int, f64,
		     f64 *, int);
typedef void sgemm64(int, int, int, s64, s64, s64, f32, const f32 *, s64, const f32 *, s64, f32,
		     f32 *, s64);
typedef void dgemm64(int, int, int, s64, s64, s64, f64, const f64 *, s64, const f64 *, s64, f64,
		     f64 *, s64);

static struct {
	void *(*find)(const char *name);
	bool own;
	pthread_once_t once;
	const char *name;
	void *s, *d;
	bool wide; /* its integers have 64 bits */
} blas = {.once = PTHREAD_ONCE_INIT, .name = "own loops"};

static const struct {
	const char *name, *s, *d;
	bool wide;
} in_process[] = {
	{"OpenBLAS of this process", "scipy_cblas_sgemm64_", "scipy_cblas_dgemm64_", true},
	{"OpenBLAS of this process", "scipy_cblas_sgemm", "scipy_cblas_dgemm", false},
	{"OpenBLAS of this process", "cblas_sgemm64_", "cblas_dgemm64_", true},
	{"BLAS of this process", "cblas_sgemm", "cblas_dgemm", false},
};

static const char *const systems[] = {"libopenblas.so.0", "libblis.so.4", "libblis.so.3",
				      "libmkl_rt.so.2", "libopenblas.so"};

static void take_blas(const char *name, void *s, void *d, bool wide)
{
	blas.name = name;
	blas.s = s;
	blas.d = d;
	blas.wide = wide;
}

static void find_blas(void)
{
	for (size_t i = 0; !blas.own && blas.find && !blas.s && i < ARRAY_LEN(in_process); i++) {
		void *s = blas.find(in_process[i].s), *d = s ? blas.find(in_process[i].d) : NULL;

		if (d)
			take_blas(in_process[i].name, s, d, in_process[i].wide);
	}
	for (size_t i = 0; !blas.own && !blas.s && i < ARRAY_LEN(systems); i++) {
		void *h = dlopen(systems[i], RTLD_NOW | RTLD_LOCAL);
		void *s = h ? dlsym(h, "cblas_sgemm") : NULL,
		     *d = s ? dlsym(h, "cblas_dgemm") : NULL;

		if (d)
			take_blas(systems[i], s, d, false);
		else if (h)
			dlclose(h);
	}
}

void hl_blas_choose(bool own, void *(*find)(const char *name))
{
	blas.own = own;
	blas.find = find;
}

const char *hl_blas_name(void)
{
	pthread_once(&blas.once, find_blas);
	return blas.name;
}

/*
 * HL_ROWS rows at a time, four of k: what a compiler makes vectors of. `OP`: += or -=.
 */
#define OWN_PANEL(T, name, OP)                                                                     \
	static void name(s64 rows, s64 columns, s64 k, const T *a, const T *b, T *acc)             \
	{                                                                                          \
		for (s64 j = 0; j < columns; j++)                                                  \
			for (s64 i = 0; i < rows; i += HL_ROWS) {                                  \
				T *c = acc + j * rows + i;                                         \
				s64 l = 0;                                                         \
                                                                                                   \
				for (; l + 4 <= k; l += 4) {                                       \
					const T *x = a + l * rows + i, *y = b + j * k + l;         \
					T y0 = y[0], y1 = y[1], y2 = y[2], y3 = y[3];              \
                                                                                                   \
					for (int v = 0; v < HL_ROWS; v++)                          \
						c[v] OP x[v] * y0 + x[rows + v] * y1 +             \
							x[2 * rows + v] * y2 +                     \
							x[3 * rows + v] * y3;                      \
				}                                                                  \
				for (; l < k; l++)                                                 \
					for (int v = 0; v < HL_ROWS; v++)                          \
						c[v] OP a[l * rows + i + v] * b[j * k + l];        \
			}                                                                          \
	}
OWN_PANEL(f32, own_add_f32, +=)
OWN_PANEL(f32, own_sub_f32, -=)
OWN_PANEL(f64, own_add_f64, +=)
OWN_PANEL(f64, own_sub_f64, -=)

/* Products with a vector gain nothing from a library. */
#define PANEL(T, name, field, factor, own32, wide_fn, narrow_fn)                                   \
	void name(s64 rows, s64 columns, s64 k, const T *a, const T *b, T *acc)                    \
	{                                                                                          \
		pthread_once(&blas.once, find_blas);                                               \
		if (!blas.field || columns < 4)                                                    \
			own32(rows, columns, k, a, b, acc);                                        \
		else if (blas.wide)                                                                \
			((wide_fn *)blas.field)(COLUMN_MAJOR, AS_IT_IS, AS_IT_IS, rows, columns,   \
						k, factor, a, rows, b, k, 1, acc, rows);           \
		else                                                                               \
			((narrow_fn *)blas.field)(COLUMN_MAJOR, AS_IT_IS, AS_IT_IS, (int)rows,     \
						  (int)columns, (int)k, factor, a, (int)rows, b,   \
						  (int)k, 1, acc, (int)rows);                      \
	}
PANEL(f32, hl_panel_f32, s, 1, own_add_f32, sgemm64, sgemm32)
PANEL(f64, hl_panel_f64, d, 1, own_add_f64, dgemm64, dgemm32)
PANEL(f32, hl_panel_sub_f32, s, -1, own_sub_f32, sgemm64, sgemm32)
PANEL(f64, hl_panel_sub_f64, d, -1, own_sub_f64, dgemm64, dgemm32)
