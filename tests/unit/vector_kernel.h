/*
 * A vector as a kernel k<number>(in, out): thread t reads the inputs of lane t, and writes its
 * results, VECTOR_SLOTS numbers of eight bytes each.
 */
#ifndef PL_TESTS_UNIT_VECTOR_KERNEL_H
#define PL_TESTS_UNIT_VECTOR_KERNEL_H

#include "src/base/text.h"
#include "tests/unit/vectors.h"

/* Temporaries %t0 to %t3 have the type of the first instruction that names them. */
static inline void vector_temporaries(const char *form, struct text *out)
{
	for (int i = 0; i < 4; i++) {
		char name[16], type[32];
		const char *use, *start;
		size_t n;

		snprintf(name, sizeof(name), "%%t%d", i);
		use = strstr(form, name);
		if (!use)
			continue;
		for (start = use; start > form && start[-1] != ';'; start--)
			;
		n = strcspn(start, " ");
		while (n && start[n - 1] != '.')
			n--;
		snprintf(type, sizeof(type), "%.*s", (int)strcspn(start + n, " "), start + n);
		text_printf(out, ".reg .b%d %s;\n",
			    strstr(type, "64")                          ? 64
			    : strstr(type, "16") && !strstr(type, "x2") ? 16
									: 32,
			    name);
	}
}

static inline void vector_load(struct text *out, const char *type, u32 i)
{
	text_printf(out, ".reg .%s %%a%u; ", type, i);
	if (vector_bits(type) == 1)
		text_printf(out, "ld.global.u32 %%px,[%%pi+%u]; setp.ne.u32 %%a%u,%%px,0;\n", 8 * i,
			    i);
	else
		text_printf(out, "ld.global.%s %%a%u,[%%pi+%u];\n", type, i, 8 * i);
}

static inline void vector_store(struct text *out, const char *type, u32 i)
{
	if (vector_bits(type) == 1)
		text_printf(out, "selp.u32 %%px,1,0,%%d%u; st.global.u32 [%%po+%u],%%px;\n", i,
			    8 * i);
	else
		text_printf(out, "st.global.%s [%%po+%u],%%d%u;\n", type, 8 * i, i);
}

static inline void vector_kernel(const struct vector_form *f, u32 number, struct text *out)
{
	text_printf(out,
		    ".visible .entry k%u(.param .u64 in, .param .u64 out)\n{\n"
		    ".reg .b64 %%pi, %%po; .reg .b32 %%i, %%px;\n"
		    "ld.param.u64 %%pi,[in]; ld.param.u64 %%po,[out]; mov.u32 %%i,%%tid.x;\n"
		    "mad.wide.u32 %%pi,%%i,%u,%%pi; mad.wide.u32 %%po,%%i,%u,%%po;\n",
		    number, 8 * VECTOR_SLOTS, 8 * VECTOR_SLOTS);
	for (u32 i = 0; i < f->inputs; i++)
		vector_load(out, f->type[i], i);
	for (u32 i = 0; i < f->results; i++)
		text_printf(out, ".reg .%s %%d%u;\n", f->type[f->inputs + i], i);
	vector_temporaries(f->text, out);
	text_printf(out, "%s;\n", f->text);
	for (u32 i = 0; i < f->results; i++)
		vector_store(out, f->type[f->inputs + i], i);
	text_puts(out, "ret;\n}\n");
}

/* Is what the kernel wrote what was measured? Says where it is not. */
static inline bool vector_is_exact(const struct vector *v, const u64 (*got)[VECTOR_SLOTS])
{
	for (u32 lane = 0; lane < v->lanes; lane++)
		for (u32 i = 0; i < v->form.results; i++) {
			u64 have = vector_cut(got[lane][i], v->form.type[v->form.inputs + i]);

			if (have == v->want[lane][i])
				continue;
			printf("# %s: lane %u result %u: got %llx, want %llx\n", v->form.text, lane,
			       i, (unsigned long long)have, (unsigned long long)v->want[lane][i]);
			return false;
		}
	return true;
}

#endif
