/*
 * What goes wrong on a device, each in a context without errors, by the driver API of
 * whatever libcuda it is given: the codes of loading, of the launch, of the synchronisation and of
 * the call after it.
 *
 * usage: fault_cross LIBCUDA [TEXT [K N]] cases whose name contains TEXT; of them each N-th, from K
 * on Lines: name, tab, "load launch sync after word word", words: what the kernel answers; "hangs"
 * when it does not end within four seconds.
 */
#include "src/base/leave.h"
#include "src/base/text.h"
#include "tests/oracle/cross.h"

#include <stdlib.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUFFER_BYTES 4096u
#define SECONDS 4u
#define OPEN_SECONDS 60u

/* The body sees %b: a buffer of 4096 bytes, %n: the number of this row, %a: their sum. */
struct fault_case {
	const char *name, *body;
	u64 n;
	u32 threads;
};

static const struct fault_case cases[] = {
#define FAULT(name, n, threads, body) {name, body, n, threads},
#include "tests/oracle/faults.def"
#undef FAULT
};

static const char head[] =
	".version 8.7\n.target sm_90a\n.address_size 64\n"
	".extern .func __assertfail(.param .b64 a0, .param .b64 a1, .param .b32 a2, .param .b64 a3, .param .b64 a4);\n"
	".const .align 16 .b8 cst[64] = {1,2,3,4};\n.global .align 8 .b8 words[8] = {65,0};\n"
	".func (.param .b32 o) deep(.param .b32 a)\n"
	"{ .reg .u32 %x<4>; .reg .pred %q; .local .align 16 .b8 frame[256];\n"
	"ld.param.b32 %x0, [a]; setp.eq.u32 %q, %x0, 0; mov.u32 %x1, 1; @%q bra END;\n"
	"and.b32 %x2, %x0, 60; mov.u32 %x3, frame; add.u32 %x2, %x2, %x3; st.local.u32 [%x2], %x0;\n"
	"sub.u32 %x1, %x0, 1;\n"
	"{ .param .b32 p; .param .b32 r; st.param.b32 [p], %x1; call (r), deep, (p); ld.param.b32 %x1, [r]; }\n"
	"ld.local.u32 %x2, [%x2]; add.u32 %x1, %x1, %x2;\nEND: st.param.b32 [o], %x1; ret; }\n"
	".visible .entry k(.param .u64 buffer, .param .u64 number)\n{\n"
	".reg .u64 %b, %n, %a, %d<8>; .reg .u32 %r<8>, %t, %m; .reg .pred %p<4>; .reg .b64 %s<4>;\n"
	".shared .align 128 .b8 sh[1024]; .shared .align 16 .b64 bar; .local .align 16 .b8 loc[64];\n"
	"ld.param.u64 %b, [buffer]; ld.param.u64 %n, [number]; add.u64 %a, %b, %n; cvt.u32.u64 %m, %n;\n"
	"mov.u32 %t, %tid.x; mov.u32 %r0, 0; mov.u32 %r1, 0;\n";

/* Returns false when the context is lost. */
static bool run_case(const struct cross_driver *cu, const struct fault_case *c)
{
	struct text ptx = {0};
	void *module = NULL, *function = NULL;
	int load, launch = 0, sync = 0, after;
	u64 buffer = 0, number = c->n;
	void *args[] = {&buffer, &number};
	u32 word[2] = {0, 0};

	alarm(SECONDS);
	text_printf(&ptx, "%s%s\nst.global.u32 [%%b], %%r0; st.global.u32 [%%b+4], %%r1; ret;\n}\n",
		    head, c->body);
	load = cu->load(&module, ptx.at);
	if (!load)
		load = cu->function(&function, module, "k");
	if (!load)
		load = cu->alloc(&buffer, (size_t)BUFFER_BYTES);
	if (!load) {
		launch = cu->launch(function, 1u, 1u, 1u, c->threads, 1u, 1u, 0u, NULL, args, NULL);
		sync = cu->sync();
	}
	after = cu->to_host(word, buffer, sizeof(word));
	printf("%s\t%d %d %d %d %x %x\n", c->name, load, launch, sync, after, word[0], word[1]);
	fflush(stdout);
	text_fini(&ptx);
	return !load && !launch && !sync && !after;
}

/* Cases from *next on, until one breaks the context or the process. */
static void run_cases(const char *library, const char *text, volatile u32 *next, u32 step)
{
	struct cross_driver cu;

	alarm(OPEN_SECONDS);
	if (!cross_open(&cu, library))
		leave(77);
	while (*next < ARRAY_LEN(cases)) {
		const struct fault_case *c = &cases[*next];

		if (strstr(c->name, text) && !run_case(&cu, c)) {
			*next += step;
			leave(0);
		}
		*next += step;
	}
	leave(0);
}

static bool run_all(const char *library, const char *text, u32 from, u32 step)
{
	volatile u32 *next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (next == MAP_FAILED)
		return false;
	*next = from;
	while (*next < ARRAY_LEN(cases)) {
		int status = 0;
		pid_t pid = fork();

		if (!pid)
			run_cases(library, text, next, step);
		waitpid(pid, &status, 0);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			return false;
		if (WIFSIGNALED(status)) {
			printf("%s\t%s\n", cases[*next].name,
			       WTERMSIG(status) == SIGALRM ? "hangs" : "dies");
			*next += step;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	u32 from = 0, step = 1;

	if (argc < 2) {
		fprintf(stderr, "usage: fault_cross LIBCUDA [TEXT]\n");
		return 2;
	}
	if (argc > 4) {
		from = (u32)strtoul(argv[3], NULL, 10);
		step = (u32)strtoul(argv[4], NULL, 10);
	}
	if (!step || !run_all(argv[1], argc > 2 ? argv[2] : "", from, step)) {
		fprintf(stderr, "fault_cross: no device\n");
		return 77;
	}
	return 0;
}
