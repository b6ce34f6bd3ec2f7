/*
 * Options of the just-in-time compiler: log buffers, sizes that are answered, and settings. Those
 * of code generation have nothing to set here.
 *
 * Programs look for the words of the driver's compiler in its log. So each error begins with a line
 * as ptxas writes it, our own message with the source line is after it, and ptxas's last line ends
 * the log. Without an error buffer of the program's, errors go to standard error in our form alone.
 */
#include "src/base/clock.h"
#include "runtime/cuda/drv.h"

#include <stdio.h>

enum {
	MAX_REGISTERS,
	THREADS_PER_BLOCK,
	WALL_TIME,
	INFO_LOG,
	INFO_LOG_BYTES,
	ERROR_LOG,
	ERROR_LOG_BYTES,
	OPTIMIZATION_LEVEL,
	TARGET_FROM_CONTEXT,
	TARGET,
	LOG_VERBOSE = 12,
	LAST = 33,
};

/* Numbers of function attributes. */
enum { FUNC_SHARED_BYTES = 1, FUNC_LOCAL_BYTES = 3, FUNC_REGISTERS = 4, FUNC_BINARY_VERSION = 6 };

/* ptxas knows no limit; a longer log would be of no help. */
#define ERRORS_MAX 100

/* What is not about a place in the text; the log does not end with ptxas's last line then. */
static void say_jit_line(struct drv_jit *j, const struct diag_message *m)
{
	if (j->fatal)
		return;
	text_printf(m->level == DIAG_WARNING ? &j->infos : &j->errors, "%s\n", m->words);
	j->ended |= m->level == DIAG_ERROR;
	j->fatal = m->level == DIAG_ERROR && strstr(m->words, "fatal   :");
}

/*
 * Nothing of what ptxas sees after a fatal error is known to it. What is not about a text, such as
 * a damaged image, it does not see at all.
 */
static void say_as_ptxas(struct drv_jit *j, const struct diag_message *m)
{
	bool has_line = m->words && !strncmp(m->words, "line ", 5);

	if (m->words_are_line) {
		say_jit_line(j, m);
		return;
	}
	if (j->fatal || m->level != DIAG_ERROR || (!m->line && !m->words))
		return;
	j->by_ptxas = true;
	text_puts(&j->errors, "ptxas ");
	if (m->line)
		text_puts(&j->errors, "application ptx input, ");
	if (m->line && !has_line)
		text_printf(&j->errors, "line %u; ", m->line);
	if (m->words)
		text_printf(&j->errors, "%s\n", m->words);
	else
		text_printf(&j->errors, "error   : %s\n", m->text);
	j->fatal = m->words && strstr(m->words, "fatal   :");
}

static void sort_message(void *user, const struct diag_message *m)
{
	struct drv_jit *j = user;

	say_as_ptxas(j, m);

	diag_collect(m->level == DIAG_WARNING ? &j->infos : &j->errors, m);
	if (m->level != DIAG_WARNING && !j->error_log)
		diag_print(stderr, m);
}

/* Options are numbers in the place of pointers. */
static u32 option_number(void *const *at)
{
	u32 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static int read_jit_option(struct drv_jit *j, int option, void **at)
{
	switch (option) {
	case WALL_TIME:
		j->wall_time = at;
		break;
	case INFO_LOG:
		j->info_log = *at;
		break;
	case INFO_LOG_BYTES:
		j->info_bytes = at;
		j->info_cap = option_number(at);
		break;
	case ERROR_LOG:
		j->error_log = *at;
		break;
	case ERROR_LOG_BYTES:
		j->error_bytes = at;
		j->error_cap = option_number(at);
		break;
	case THREADS_PER_BLOCK:
		j->threads = at;
		break;
	case LOG_VERBOSE:
		j->verbose = option_number(at) != 0;
		break;
	case OPTIMIZATION_LEVEL:
		return option_number(at) > 4 ? STATUS_INVALID_VALUE : STATUS_SUCCESS;
	default:
		return option < 0 || option > LAST ? STATUS_INVALID_VALUE : STATUS_SUCCESS;
	}
	return STATUS_SUCCESS;
}

int drv_jit_begin(struct drv_jit *j, unsigned n, const int *options, void **values)
{
	int status = n && (!options || !values) ? STATUS_INVALID_VALUE : STATUS_SUCCESS;

	*j = (struct drv_jit){.started_ns = clock_ns()};
	diag_init(&j->diag, sort_message, j);
	j->diag.error_limit = ERRORS_MAX;
	for (unsigned i = 0; i < n && !status; i++)
		status = read_jit_option(j, options[i], &values[i]);
	if (!status && ((j->info_log && !j->info_bytes) || (j->error_log && !j->error_bytes)))
		status = STATUS_INVALID_VALUE;
	return status;
}

/*
 * Barriers of the CTA that a kernel's own instructions name: one more than the highest, all when a
 * register does.
 */
static u32 barriers_of(const struct ir_func *f)
{
	u32 n = 0;

	for (size_t i = 0; i < f->insns.len; i++) {
		const struct ir_insn *in = &f->insns.at[i];
		const char *name = in->form ? in->form->row->name[in->form->name] : "";
		bool is_cluster = !strncmp(name, "barrier.cluster", 15);

		if (is_cluster || (strncmp(name, "bar.", 4) && strncmp(name, "barrier", 7)))
			continue;
		for (u32 k = 0; k < in->ops && k < 2; k++) {
			const struct ir_operand *op = &f->operands.at[in->first_op + k];

			if (op->kind == IR_OP_INT ||
			    (op->kind == IR_OP_REG && op->type != T_pred)) {
				u32 last = op->kind == IR_OP_INT ? (u32)op->imm & 15 : 15;

				n = last + 1 > n ? last + 1 : n;
				break;
			}
		}
	}
	return n;
}

static void kernel_info(struct drv_jit *j, struct device_kernel *k)
{
	const char *name = k->func->name->text;
	int stack, registers, shared, sm;

	if (rt_function_attribute(k, FUNC_LOCAL_BYTES, &stack) ||
	    rt_function_attribute(k, FUNC_REGISTERS, &registers) ||
	    rt_function_attribute(k, FUNC_SHARED_BYTES, &shared) ||
	    rt_function_attribute(k, FUNC_BINARY_VERSION, &sm))
		return;
	text_printf(&j->infos, "ptxas info    : Compiling entry function '%s' for 'sm_%d'\n", name,
		    sm);
	text_printf(&j->infos, "ptxas info    : Function properties for %s\n", name);
	text_printf(&j->infos,
		    "    %d bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n", stack);
	text_printf(&j->infos, "ptxas info    : Used %d registers, used %u barriers", registers,
		    barriers_of(k->func));
	if (shared)
		text_printf(&j->infos, ", %d bytes smem", shared);
	text_puts(&j->infos, "\n");
}

static void memory_info(struct drv_jit *j, const struct ir_module *m)
{
	u64 global = 0, constant = 0;

	for (size_t i = 0; i < m->vars.len; i++) {
		const struct ir_var *v = m->vars.at[i];
		u64 *bytes = v->space == M_global ? &global : &constant;

		if (v->definition == v && v->linkage != IR_EXTERN &&
		    (v->space == M_global || v->space == M_const))
			*bytes = align_up(*bytes, v->align ? v->align : 1) + v->size_bytes;
	}
	text_printf(&j->infos, "ptxas info    : %llu bytes gmem", (unsigned long long)global);
	if (constant)
		text_printf(&j->infos, ", %llu bytes cmem[3]", (unsigned long long)constant);
	text_puts(&j->infos, "\n");
}

void drv_jit_kernels(struct drv_jit *j, struct device_program *p)
{
	const struct ir_module *unit = NULL;
	struct device_kernel *k;

	for (u32 i = 0; j->verbose && (k = device_program_nth(p, i)); i++) {
		if (k->unit != unit)
			memory_info(j, k->unit);
		unit = k->unit;
		kernel_info(j, k);
	}
}

/* Fill a buffer as far as it goes, always with a NUL, and answer how much of it is used. */
static void give(char *to, void **bytes, size_t cap, const struct text *t)
{
	size_t n = t->at ? t->len : 0;

	if (!bytes)
		return;
	if (!to || !cap) {
		*bytes = NULL;
		return;
	}
	n = n < cap ? n : cap - 1;
	if (n)
		memcpy(to, t->at, n);
	to[n] = 0;
	*bytes = (void *)(uintptr_t)n;
}

void drv_jit_give(struct drv_jit *j)
{
	f32 ms = (f32)(clock_ns() - j->started_ns) * 1e-6f;

	if (j->by_ptxas && !j->ended)
		text_puts(&j->errors, "ptxas fatal   : Ptx assembly aborted due to errors\n");
	j->ended |= j->by_ptxas;
	give(j->info_log, j->info_bytes, j->info_cap, &j->infos);
	give(j->error_log, j->error_bytes, j->error_cap, &j->errors);
	if (j->wall_time)
		memcpy(j->wall_time, &ms, sizeof(ms));
}

void drv_jit_drop(struct drv_jit *j)
{
	text_fini(&j->infos);
	text_fini(&j->errors);
	diag_fini(&j->diag);
}

void drv_jit_end(struct drv_jit *j)
{
	drv_jit_give(j);
	drv_jit_drop(j);
}
