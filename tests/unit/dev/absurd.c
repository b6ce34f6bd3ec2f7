/*
 * Absurd launches, with the statuses of an H200 (driver 580.159.04): local memory beyond what a
 * thread may have, shapes and sizes beyond what a device has, recursion without an end. Each is
 * refused with its status and a message, or ends as a fault; the device can be used afterwards.
 */
#include "tests/check.h"

#include <ptxloom.h>

#include <stdint.h>
#include <stdlib.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
/* clang-format off */
/* Stores and loads at a place that is known at run time only. */
#define TOUCH(space, name)                                                                             \
	"ld.param.u64 %%rd0, [p]; ld.global.u64 %%rd1, [%%rd0]; mov.u64 %%rd2, " name \
	"; add.u64 %%rd2, %%rd2, %%rd1;\n" \
	"st." space ".u32 [%%rd2], 7; ld." space ".u32 %%r0, [%%rd2]; st.global.u32 [%%rd0], %%r0; ret;\n"
/* clang-format on */
#define REGS ".reg .b64 %%rd<4>; .reg .b32 %%r<4>;\n"

struct env {
	struct ptxloom_device *dev;
	struct ptxloom_module *mod;
	struct ptxloom_kernel *kernel;
	uint64_t *data;
};

static bool env_open(struct env *e, const char *text)
{
	struct ptxloom_options o = {.size = sizeof(o), .device = "h200", .workers = 1};

	memset(e, 0, sizeof(*e));
	return CHECK_EQ(ptxloom_device_open(&o, &e->dev), 0) &&
	       CHECK_EQ(ptxloom_module_load(e->dev, text, strlen(text), &e->mod), 0) &&
	       CHECK((e->kernel = ptxloom_module_kernel(e->mod, "k")) != NULL) &&
	       CHECK((e->data = ptxloom_alloc(e->dev, 64)) != NULL) && memset(e->data, 0, 64);
}

static void env_close(struct env *e)
{
	ptxloom_device_close(e->dev);
}

/* The status of a launch, and that its message has these words. */
static void check_launch(struct env *e, const struct ptxloom_config *c, int status,
			 const char *words, const char *what)
{
	void *args[] = {&e->data};
	char text[2000] = "", name[200];
	int got = ptxloom_launch(e->kernel, c, args);

	if (got)
		ptxloom_message(e->dev, text, sizeof(text));
	snprintf(name, sizeof(name), "%s: status %d", what, got);
	if (!CHECK_MSG(got == status && (!words || strstr(text, words)), name))
		printf("# %s\n", text);
}

/* ---- local memory ---- */

static const struct ptxloom_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};

static void test_local(const char *bytes, const char *more, int status, const char *words)
{
	char text[2000], what[100];
	struct env e;

	snprintf(text, sizeof(text),
		 HEAD ".visible .entry k(.param .u64 p)\n{\n" REGS
		      ".local .align 4 .b8 a[%s]; %s\n" TOUCH("local", "a") "}\n",
		 bytes, more);
	snprintf(what, sizeof(what), ".local .b8 a[%s]; %s", bytes, more);
	if (env_open(&e, text))
		check_launch(&e, &one, status, words, what);
	env_close(&e);
}

static void test_local_of_callee(void)
{
	char text[2000];
	struct env e;

	/* clang-format off */
	snprintf(text, sizeof(text),
		 HEAD ".func f(.param .u64 p)\n{\n" REGS ".local .align 4 .b8 a[8589934592];\n"
		 TOUCH("local", "a") "}\n"
		 ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %%rd0; .param .u64 q;\n"
		 "ld.param.u64 %%rd0, [p]; st.param.u64 [q], %%rd0; call f, (q); ret; }\n");
	/* clang-format on */
	if (env_open(&e, text))
		check_launch(
			&e, &one, 1,
			"each thread needs 8589934592 bytes of local memory, 524288 are possible",
			"local memory of a function");
	env_close(&e);
}

/* ---- shapes ---- */

static void test_shapes(void)
{
	static const struct {
		struct ptxloom_config c;
		int status;
		const char *words;
	} shapes[] = {
		{{.grid = {0, 1, 1}, .block = {1, 1, 1}}, 1, NULL},
		{{.grid = {1, 1, 1}, .block = {0, 1, 1}}, 1, NULL},
		{{.grid = {0x80000000u, 1, 1}, .block = {1, 1, 1}}, 1, "grid"},
		{{.grid = {0xffffffffu, 0xffffffffu, 0xffffffffu}, .block = {1, 1, 1}}, 1, "grid"},
		{{.grid = {1, 65536, 1}, .block = {1, 1, 1}}, 1, "grid"},
		{{.grid = {1, 1, 65536}, .block = {1, 1, 1}}, 1, "grid"},
		{{.grid = {1, 1, 1}, .block = {1025, 1, 1}}, 1, "block"},
		{{.grid = {1, 1, 1}, .block = {0x80000000u, 2, 1}}, 1, "block"},
		{{.grid = {1, 1, 1}, .block = {65536, 65536, 1}}, 1, "block"},
		{{.grid = {1, 1, 1}, .block = {0xffffffffu, 0xffffffffu, 0xffffffffu}}, 1, "block"},
		{{.grid = {1, 1, 1}, .block = {1, 1, 65}}, 1, "block"},
		{{.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 0x80000000u},
		 1,
		 "shared"},
		{{.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = 0x100000000u},
		 1,
		 "shared"},
		{{.grid = {1, 1, 1}, .block = {1, 1, 1}, .dynamic_shared = SIZE_MAX}, 1, "shared"},
		{{.grid = {1, 1, 1}, .block = {1, 1, 1}, .cluster = {0xffffffffu, 0xffffffffu, 2}},
		 912,
		 NULL},
		{{.grid = {1, 1, 1}, .block = {1, 1, 1}}, 0, NULL},
	};
	struct env e;
	char what[120];

	if (!env_open(&e, HEAD ".visible .entry k(.param .u64 p) { ret; }\n"))
		return;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const struct ptxloom_config *c = &shapes[i].c;

		snprintf(what, sizeof(what), "grid %u,%u,%u block %u,%u,%u shared %zu", c->grid[0],
			 c->grid[1], c->grid[2], c->block[0], c->block[1], c->block[2],
			 c->dynamic_shared);
		check_launch(&e, c, shapes[i].status, shapes[i].words, what);
	}
	env_close(&e);
}

/* ---- recursion ---- */

static void test_recursion(void)
{
	struct env e;

	if (env_open(&e, HEAD ".func f() { .local .b32 a[16]; call f; ret; }\n"
			      ".visible .entry k(.param .u64 p) { call f; ret; }\n"))
		check_launch(&e, &one, 700, "Stack overflow", "recursion without an end");
	env_close(&e);
}

int main(void)
{
	test_local("1024", "", 0, NULL);
	test_local("524288", "", 0, NULL);
	test_local("524289", "", 1,
		   "each thread needs 524289 bytes of local memory, 524288 are possible");
	test_local("4294967296", "", 1, "each thread needs 4294967296 bytes of local memory");
	test_local("1099511627776", "", 1, "each thread needs 1099511627776 bytes of local memory");
	test_local("1024", ".local .b8 unused[1099511627776];", 1,
		   "each thread needs 1099511628800 bytes");
	test_local_of_callee();
	test_shapes();
	test_recursion();
	return check_done();
}
