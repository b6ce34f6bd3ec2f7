/*
 * What a kernel needs is the same number without lowering what it calls: static shared memory and
 * its frame, with callees, recursion, function pointers and variables of all kinds.
 */
#include "grammar/parse.h"
#include "src/exec/exec.h"
#include "src/lower/lower.h"
#include "tests/check.h"

#include <stdio.h>

static const char text[] =
	".version 9.0\n.target sm_90\n.address_size 64\n"
	".shared .align 16 .b8 used[1000];\n.shared .align 8 .b8 other[64];\n"
	".extern .shared .align 32 .b8 dynamic[];\n"
	".func leaf(.param .b64 p)\n{\n.reg .b32 %r<3>; .local .b8 mine[40];\n"
	"mov.u32 %r1, used;\nld.shared.u32 %r2, [%r1];\nst.local.u32 [mine], %r2;\nret;\n}\n"
	".func (.param .b32 y) again(.param .b32 x)\n{\n.reg .b32 %r<4>; .reg .pred %p1;\n"
	"ld.param.u32 %r1, [x]; setp.eq.u32 %p1, %r1, 0; @%p1 bra E; sub.u32 %r2, %r1, 1;\n"
	"{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call (b), again, (a);"
	" ld.param.b32 %r1, [b]; }\nE: st.param.b32 [y], %r1; ret;\n}\n"
	".visible .entry plain()\n{\nret;\n}\n"
	".visible .entry local()\n{\n.local .align 16 .b8 a[100]; .local .b8 b[3]; .reg .b32 %r1;\n"
	"mov.u32 %r1, 1; st.local.u32 [a], %r1; st.local.u8 [b], %r1; ret;\n}\n"
	".visible .entry calls(.param .u64 q)\n{\n.reg .b64 %d1; .local .b8 a[24];\n"
	"ld.param.u64 %d1, [q]; { .param .b64 z; st.param.b64 [z], %d1; call leaf, (z); } ret;\n}\n"
	".visible .entry recurses()\n{\n.reg .b32 %r1; { .param .b32 a; .param .b32 b;\n"
	"st.param.b32 [a], 3; call (b), again, (a); ld.param.b32 %r1, [b]; } ret;\n}\n"
	".visible .entry points(.param .u64 f)\n{\n.reg .b64 %d<3>; T: .callprototype _ (.param .b64 _);\n"
	"mov.u64 %d2, leaf; ld.param.u64 %d1, [f];"
	" { .param .b64 z; st.param.b64 [z], %d2; call %d1, (z), T; } ret;\n}\n"
	".visible .entry shares()\n{\n.reg .b32 %r<3>; .shared .b8 here[100];\n"
	"mov.u32 %r1, dynamic; ld.shared.u32 %r2, [%r1]; st.shared.u32 [here], %r2; ret;\n}\n";

/* What a module has of dynamic shared memory aligns the rest, used or not. */
static void compare(const struct ir_module *m, const char *name, u32 shared)
{
	u64 address[32] = {0};
	struct lower_options options = {.warps = 8};
	const struct ir_func *f = ir_find_func(m, name);
	struct exec_needs needs = {1, 1};
	struct program *p;
	struct diag d;

	diag_init(&d, diag_print, stderr);
	p = exec_lower(m, f, arch_find("h200"), address, &options, &d);
	CHECK(p != NULL);
	CHECK(exec_measure(m, f, arch_find("h200"), address, &options, &needs));
	CHECK_EQ(needs.shared_static, shared);
	if (p) {
		CHECK_EQ(needs.shared_static, p->shared_static);
		CHECK_EQ(needs.frame_bytes, p->frame_bytes);
	}
	exec_program_free(p);
	diag_fini(&d);
}

int main(void)
{
	struct diag_source source = {.name = "k.ptx", .text = text, .size = sizeof(text) - 1};
	struct ir_module *m;
	struct diag d;

	diag_init(&d, diag_print, stderr);
	m = ptx_parse(&source, NULL, &d);
	CHECK(m != NULL);
	if (m) {
		compare(m, "plain", 0);
		compare(m, "local", 0);
		compare(m, "calls", 1024);
		compare(m, "recurses", 0);
		compare(m, "points", 1024);
		compare(m, "shares", 128);
	}
	ir_module_free(m);
	diag_fini(&d);
	return check_done();
}
