/*
 * Matrix instructions on random numbers, by the driver API of whatever libcuda it is given: digests of
 * the results, one line for each form, kind of numbers and 4096 tiles, so that the output of a GPU and
 * that of the emulated device can be compared line by line (matrix_cross.sh does). The kernels make
 * their numbers themselves, of the tile's index.
 *
 * usage: matrix_cross LIBCUDA [TILES [TEXT]]     TILES of each form (10^6), TEXT: forms that contain it
 */
#include "src/base/base.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define CHUNK 4096u
#define WARPS 8u
#define PTX_MAX 32768u

/* Registers of A, B and C; kind: h f16, b bf16, f tf32, 8 fp8, i integers, d f64. */
struct form {
	const char *text;
	u32 a, b, c;
	char kind;
	const char *tail;
};

#define M16(shape, types, a, b, c, kind)                                                           \
	{                                                                                          \
		"mma.sync.aligned." shape ".row.col." types, a, b, c, kind, ""                     \
	}
#define SP(shape, types, a, b, c, kind)                                                            \
	{                                                                                          \
		"mma.sp::ordered_metadata.sync.aligned." shape ".row.col." types, a, b, c, kind,   \
			",%m,0x0"                                                                  \
	}

static const struct form forms[] = {
	M16("m16n8k8", "f32.f16.f16.f32", 2, 1, 4, 'h'),
	M16("m16n8k16", "f32.f16.f16.f32", 4, 2, 4, 'h'),
	M16("m16n8k16", "f16.f16.f16.f16", 4, 2, 2, 'h'),
	M16("m16n8k8", "f32.bf16.bf16.f32", 2, 1, 4, 'b'),
	M16("m16n8k16", "f32.bf16.bf16.f32", 4, 2, 4, 'b'),
	M16("m16n8k4", "f32.tf32.tf32.f32", 2, 1, 4, 'f'),
	M16("m16n8k8", "f32.tf32.tf32.f32", 4, 2, 4, 'f'),
	M16("m16n8k32", "f32.e4m3.e4m3.f32", 4, 2, 4, '8'),
	M16("m16n8k32", "f32.e5m2.e4m3.f32", 4, 2, 4, '8'),
	M16("m16n8k32", "f16.e5m2.e5m2.f16", 4, 2, 2, '8'),
	M16("m8n8k4", "f64.f64.f64.f64", 1, 1, 2, 'd'),
	M16("m16n8k16", "f64.f64.f64.f64", 8, 4, 4, 'd'),
	M16("m16n8k32", "s32.s8.u8.s32", 4, 2, 4, 'i'),
	{"mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32", 4, 2, 4, 'i', ""},
	M16("m16n8k64", "s32.s4.u4.s32", 4, 2, 4, 'i'),
	M16("m16n8k256", "s32.b1.b1.s32.xor.popc", 4, 2, 4, 'i'),
	M16("m16n8k256", "s32.b1.b1.s32.and.popc", 4, 2, 4, 'i'),
	SP("m16n8k32", "f32.f16.f16.f32", 4, 4, 4, 'h'),
	SP("m16n8k32", "f32.bf16.bf16.f32", 4, 4, 4, 'b'),
	SP("m16n8k16", "f32.tf32.tf32.f32", 4, 4, 4, 'f'),
	SP("m16n8k64", "f32.e4m3.e5m2.f32", 4, 4, 4, '8'),
	SP("m16n8k64", "s32.s8.s8.s32", 4, 4, 4, 'i'),
	{"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 8, 8, 8, 'h', ""},
	{"wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.u8.s32", 4, 1, 8, 'i', ""},
};

/* What numbers are like: words are masked, then or'ed; every so often a word is zero. */
struct numbers {
	const char *name;
	u32 zeros; /* of 256 words so many */
	bool plain, ordinary;
};

static const struct numbers numbers[] = {
	{"ordinary", 0, true, true},
	{"zeros", 96, true, true},
	{"finite", 8, true, false},
	{"any", 0, false, false},
};

static void masks(char kind, const struct numbers *n, u32 *and, u32 * or)
{
	static const struct {
		char kind;
		u32 finite, ordinary, set;
	} table[] = {
		{'h', 0xbfffbfff, 0x9fff9fff, 0x20002000},
		{'b', 0xbfffbfff, 0x83ff83ff, 0x3c003c00},
		{'f', 0xbfffffff, 0x83ffffff, 0x3c000000},
		{'8', 0xbfbfbfbf, 0x9f9f9f9f, 0x20202020},
		{'d', 0xbfffffff, 0x803fffff, 0x3fc00000},
	};

	*and = ~0u;
	* or = 0;
	for (u32 i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].kind == kind && n->plain) {
			*and = n->ordinary ? table[i].ordinary : table[i].finite;
			* or = n->ordinary ? table[i].set : 0;
		}
}

struct out {
	char at[PTX_MAX];
	size_t len;
};

static void PL_PRINTF(2, 3) add(struct out *o, const char *format, ...)
{
	va_list v;

	va_start(v, format);
	o->len += (size_t)vsnprintf(o->at + o->len, PTX_MAX - o->len, format, v);
	va_end(v);
}

static void add_list(struct out *o, const char *name, u32 n)
{
	for (u32 i = 0; i < n; i++)
		add(o, "%s%s%u", i ? "," : "{", name, i);
	add(o, "}");
}

/* A random word in %x: of the tile and lane in %s. and, or: names of the masks' registers. */
static void add_word(struct out *o, u32 salt, const char *and, const char * or)
{
	add(o,
	    "add.u32 %%x,%%s,%u; mul.lo.u32 %%x,%%x,0x9e3779b1; shr.u32 %%y,%%x,15; xor.b32 %%x,%%x,%%y;\n"
	    "mul.lo.u32 %%x,%%x,0x85ebca77; shr.u32 %%y,%%x,13; xor.b32 %%x,%%x,%%y; mul.lo.u32 %%x,%%x,0xc2b2ae3d;\n"
	    "shr.u32 %%y,%%x,16; xor.b32 %%x,%%x,%%y; mul.lo.u32 %%y,%%x,0x27d4eb2f; shr.u32 %%y,%%y,24;\n"
	    "setp.lt.u32 %%p,%%y,%%z; and.b32 %%x,%%x,%s; or.b32 %%x,%%x,%s; selp.b32 %%x,0,%%x,%%p;\n",
	    salt * 0x01000193u, and, or);
}

/* n registers of a type, from salt on; f64 has two words, the exponent in the upper one. */
static void add_numbers(struct out *o, const char *name, u32 n, bool wide, u32 salt,
			const char *and, const char * or)
{
	for (u32 i = 0; i < n; i++) {
		add_word(o, salt + 2 * i, and, or);
		if (!wide) {
			add(o, "mov.b32 %s%u,%%x;\n", name, i);
			continue;
		}
		add(o, "mov.b32 %%h,%%x;\n");
		add_word(o, salt + 2 * i + 1, "-1", "0");
		add(o, "mov.b64 %s%u,{%%x,%%h};\n", name, i);
	}
}

static void write_kernel(const struct form *f, struct out *o)
{
	bool wide = f->kind == 'd';
	const char *type = wide ? "f64" : "b32";
	const char *sum = wide                      ? "f64"
			  : strstr(f->text, ".s32") ? "s32"
			  : strstr(f->text, "f32")  ? "f32"
						    : "b32";

	o->len = 0;
	add(o,
	    ".version 8.5\n.target sm_90a\n.address_size 64\n"
	    ".visible .entry k(.param .u64 out,.param .u32 base,.param .u32 a1,.param .u32 a2,.param .u32 c1,"
	    ".param .u32 c2,.param .u32 zeros)\n"
	    "{ .reg .u64 %%o; .reg .u32 %%t,%%c,%%s; .reg .b32 %%x,%%y,%%z,%%h,%%m;\n"
	    ".reg .b32 %%a_,%%b_,%%c_,%%d_; .reg .pred %%p;\n"
	    ".reg .%s %%a<8>,%%b<8>; .reg .%s %%c<8>;\n",
	    type, sum);
	add(o,
	    "ld.param.u64 %%o,[out]; ld.param.u32 %%s,[base]; ld.param.u32 %%a_,[a1]; ld.param.u32 %%b_,[a2];\n"
	    "ld.param.u32 %%c_,[c1]; ld.param.u32 %%d_,[c2]; ld.param.u32 %%z,[zeros];\n"
	    "mov.u32 %%t,%%tid.x; mov.u32 %%c,%%ctaid.x; mad.lo.u32 %%t,%%c,%u,%%t; mad.wide.u32 %%o,%%t,4,%%o;\n"
	    "mad.lo.u32 %%s,%%s,32,%%t; mul.lo.u32 %%s,%%s,0x10001; mov.b32 %%m,0x4e4e4e4e;\n",
	    32 * WARPS);
	add_numbers(o, "%a", f->a, wide, 1, "%a_", "%b_");
	add_numbers(o, "%b", f->b, wide, 33, "%a_", "%b_");
	add_numbers(o, "%c", f->c, wide, 65, "%c_", "%d_");
	add(o, "%s ", f->text);
	add_list(o, "%c", f->c);
	add(o, ",");
	add_list(o, "%a", f->a);
	add(o, ",");
	add_list(o, "%b", f->b);
	add(o, ",");
	add_list(o, "%c", f->c);
	add(o, "%s;\nmov.u32 %%h,0;\n", f->tail);
	for (u32 i = 0; i < f->c; i++) {
		if (wide)
			add(o, "mov.b64 {%%x,%%y},%%c%u; mad.lo.u32 %%h,%%h,0x01000193,%%y;\n", i);
		else
			add(o, "mov.b32 %%x,%%c%u;\n", i);
		add(o, "mad.lo.u32 %%h,%%h,0x01000193,%%x;\n");
	}
	add(o, "st.global.u32 [%%o],%%h;\nret; }\n");
}

/* ---- the driver ---- */

typedef int call();

static struct driver {
	call *init, *retain, *current, *load, *unload, *function, *alloc, *launch, *read;
} cu;

static bool open_driver(const char *path)
{
	static const struct {
		const char *name;
		size_t at;
	} calls[] = {
		{"cuInit", offsetof(struct driver, init)},
		{"cuDevicePrimaryCtxRetain", offsetof(struct driver, retain)},
		{"cuCtxSetCurrent", offsetof(struct driver, current)},
		{"cuModuleLoadData", offsetof(struct driver, load)},
		{"cuModuleUnload", offsetof(struct driver, unload)},
		{"cuModuleGetFunction", offsetof(struct driver, function)},
		{"cuMemAlloc_v2", offsetof(struct driver, alloc)},
		{"cuLaunchKernel", offsetof(struct driver, launch)},
		{"cuMemcpyDtoH_v2", offsetof(struct driver, read)},
	};
	void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL), *context = NULL;

	if (!lib) {
		fprintf(stderr, "matrix_cross: %s\n", dlerror());
		return false;
	}
	for (u32 i = 0; i < ARRAY_LEN(calls); i++) {
		void *p = dlsym(lib, calls[i].name);

		if (!p)
			return false;
		memcpy((u8 *)&cu + calls[i].at, &p, sizeof(p));
	}
	return !cu.init(0u) && !cu.retain(&context, 0) && !cu.current(context);
}

static u64 digest_of(const u32 *words, u32 n)
{
	u64 d = 0xcbf29ce484222325u;

	for (u32 i = 0; i < n; i++)
		d = (d ^ words[i]) * 0x100000001b3u;
	return d;
}

static bool run_form(const struct form *f, u64 out, u32 *words, u32 tiles)
{
	static struct out ptx;
	void *module = NULL, *function = NULL;
	bool ok;

	write_kernel(f, &ptx);
	ok = !cu.load(&module, ptx.at) && !cu.function(&function, module, "k");
	for (u32 n = 0; ok && n < ARRAY_LEN(numbers); n++)
		for (u32 base = 0; ok && base < tiles / ARRAY_LEN(numbers); base += CHUNK) {
			bool half = f->c == 2 && f->kind != 'd' && f->kind != 'i';
			u32 a[2], c[2], zeros = numbers[n].zeros;
			void *args[] = {&out, &base, &a[0], &a[1], &c[0], &c[1], &zeros};

			masks(f->kind, &numbers[n], &a[0], &a[1]);
			masks(f->kind == 'd'   ? 'd'
			      : f->kind == 'i' ? 'i'
			      : half           ? 'h'
					       : 'f',
			      &numbers[n], &c[0], &c[1]);
			ok = !cu.launch(function, CHUNK / WARPS, 1u, 1u, 32 * WARPS, 1u, 1u, 0u,
					NULL, args, NULL) &&
			     !cu.read(words, out, (size_t)CHUNK * 32 * 4);
			if (ok)
				printf("%s\t%s\t%u\t%016llx\n", f->text, numbers[n].name, base,
				       (unsigned long long)digest_of(words, CHUNK * 32));
		}
	if (module)
		cu.unload(module);
	return ok;
}

int main(int argc, char **argv)
{
	u32 tiles = argc > 2 ? (u32)strtoul(argv[2], NULL, 10) : 1000000;
	u32 *words = malloc((size_t)CHUNK * 32 * 4);
	bool ok = true;
	u64 out = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: matrix_cross LIBCUDA [TILES [TEXT]]\n");
		return 2;
	}
	if (!words || !open_driver(argv[1]) || cu.alloc(&out, (size_t)CHUNK * 32 * 4)) {
		fprintf(stderr, "matrix_cross: no device\n");
		return 77;
	}
	for (u32 i = 0; i < ARRAY_LEN(forms); i++)
		if ((argc < 4 || strstr(forms[i].text, argv[3])) &&
		    !run_form(&forms[i], out, words, tiles)) {
			printf("%s\tfails\n", forms[i].text);
			ok = false;
		}
	return ok ? 0 : 1;
}
