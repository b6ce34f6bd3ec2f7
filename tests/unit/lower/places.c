/*
 * A program that was lowered one to one knows where its variables lie; others do not.
 */
#include "grammar/parse.h"
#include "src/lower/lower.h"
#include "src/exec/exec.h"
#include "tests/check.h"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
			   ".global .align 4 .b32 counter;\n"
			   ".shared .align 4 .b8 unused[64];\n"
			   ".shared .align 4 .b8 first[12];\n"
			   ".extern .shared .align 16 .b8 dynamic[];\n"
			   ".func (.param .b32 r) twice(.param .b64 p, .param .b32 q)\n"
			   "{\n"
			   "	.local .align 8 .b8 depot[24];\n"
			   "	.reg .b32 %r<3>;\n"
			   "	st.local.b32 [depot], 1;\n"
			   "	ld.param.b32 %r1, [q];\n"
			   "	st.param.b32 [r], %r1;\n"
			   "	ret;\n"
			   "}\n"
			   ".visible .entry k(.param .u32 a, .param .u64 b)\n"
			   "{\n"
			   "	.local .align 16 .b8 own[32];\n"
			   "	.reg .b32 %r<4>;\n"
			   "	.reg .b64 %rd<4>;\n"
			   "	ld.param.u64 %rd1, [b];\n"
			   "	st.local.b32 [own], 1;\n"
			   "	mov.u32 %r2, first;\n"
			   "	mov.u32 %r3, dynamic;\n"
			   "	{\n"
			   "	.param .b64 x;\n"
			   "	.param .b32 y;\n"
			   "	.param .b32 z;\n"
			   "	st.param.b64 [x], %rd1;\n"
			   "	st.param.b32 [y], %r2;\n"
			   "	call (z), twice, (x, y);\n"
			   "	}\n"
			   "	ret;\n"
			   "}\n";

static struct ir_module *module;

static bool place(const struct program *p, const char *func, const char *name,
		  struct exec_place *out)
{
	for (size_t i = 0; i < module->vars.len; i++) {
		const struct ir_var *v = module->vars.at[i];

		if (!strcmp(v->name->text, name) &&
		    (func ? v->func != IR_NONE &&
				     !strcmp(module->funcs.at[v->func]->name->text, func)
			  : v->func == IR_NONE))
			return exec_variable_place(p, v, out);
	}
	return false;
}

#define LIES(func, name, where, offset)                                                            \
	CHECK(place(p, func, name, &at) && at.base == (where) && at.at == (offset))

static void test_places(const struct program *p)
{
	struct exec_place at;

	LIES(NULL, "counter", EXEC_IN_MEMORY, 65536);
	LIES(NULL, "first", EXEC_IN_SHARED, 0);
	LIES(NULL, "dynamic", EXEC_IN_SHARED, 16);
	CHECK(!place(p, NULL, "unused", &at));
	LIES("k", "a", EXEC_IN_PARAMS, 0);
	LIES("k", "b", EXEC_IN_PARAMS, 8);
	LIES("k", "own", EXEC_IN_FRAME, 0);
	/* Arguments lie where the callee finds them. */
	LIES("k", "x", EXEC_IN_STACK, 8);
	LIES("k", "y", EXEC_IN_STACK, 16);
	LIES("twice", "r", EXEC_IN_FRAME, 0);
	LIES("twice", "p", EXEC_IN_FRAME, 8);
	LIES("twice", "q", EXEC_IN_FRAME, 16);
	LIES("twice", "depot", EXEC_IN_FRAME, 24);
}

int main(void)
{
	struct diag_source source = {.name = "places.ptx", .text = text, .size = strlen(text)};
	struct lower_options options = {.warps = 1, .one_to_one = true};
	u64 address[64];
	struct exec_place at;
	struct program *p;
	struct diag d;

	diag_init(&d, diag_print, stderr);
	module = ptx_parse(&source, NULL, &d);
	if (!CHECK(module != NULL))
		return check_done();
	for (size_t i = 0; i < ARRAY_LEN(address); i++)
		address[i] = 65536;
	p = exec_lower(module, ir_find_func(module, "k"), arch_find("a100"), address, &options, &d);
	if (CHECK(p != NULL))
		test_places(p);
	exec_program_free(p);
	options.one_to_one = false;
	p = exec_lower(module, ir_find_func(module, "k"), arch_find("a100"), address, &options, &d);
	CHECK(p && !place(p, NULL, "counter", &at));
	exec_program_free(p);
	ir_module_free(module);
	diag_fini(&d);
	return check_done();
}
