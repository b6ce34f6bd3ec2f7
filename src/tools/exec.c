/*
 * `ptxloom exec`: run one kernel on data from the command line or from files.
 */
#include "src/base/demangle.h"
#include "src/base/file.h"
#include "src/lower/lower.h"
#include "src/base/size.h"
#include "src/base/setting.h"
#include "src/base/stats.h"
#include "src/check/record.h"
#include "src/cover/collect.h"
#include "src/debugger/debugger.h"
#include "src/dev/record/record.h"
#include "src/profile/collect.h"
#include "src/tier/tier.h"
#include "src/tools/exec_job.h"
#include "src/tools/exec_replay.h"
#include "src/tools/interrupt.h"
#include "src/tools/kit/many.h"
#include "src/sched/debug.h"
#include "src/sched/rest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
const char tool_help_exec[] =
	"Runs one kernel of FILE (PTX, fat binary, object, executable ..) and prints or writes results.\n"
	"Its parameters are given in order, each by --arg or --buffer.\n"
	"\n"
	"  --kernel NAME           which kernel; not needed when FILE has one\n"
	"  --grid X[,Y,Z]          CTAs (default 1)\n"
	"  --block X[,Y,Z]         threads of a CTA (default 1)\n"
	"  --shared BYTES          dynamic shared memory\n"
	"  --cluster X[,Y,Z]       CTAs of a cluster (default: that of the kernel)\n"
	"  --cooperative           all CTAs are resident at once\n"
	"  --arg TYPE=VALUE        a parameter: u32=7, f32=1.5; TYPE[N]=INIT for a structure\n"
	"  --buffer NAME:TYPE[N]=INIT\n"
	"                          a pointer to device memory; without =INIT zeros, without N as many as INIT has\n"
	"  --dump NAME[=FILE]      print a buffer or a .global variable afterwards (NAME:TYPE), or write it:\n"
	"                          raw, or .npy by its name\n"
	"  --expect NAME[:TYPE]=INIT\n"
	"                          what a buffer or variable has to hold: as above, or an expression of inputs and i\n"
	"  --tolerance [NAME:]LIST how far from it, a list of rel=X, abs=X, ulp=N: one of them is enough\n"
	"  --expect-fault RULE     the launch has to fault so: out_of_bounds, 'misaligned at FILE:LINE', none ..\n"
	"  --expect-metric CLAIM   what a metric has to be: 'bank_conflicts == 0', 'instructions <= 90 +- 5%'\n"
	SAVED_HELP
	"  --save-places           --save-metrics says also which instruction has most of each\n"
	"  --seeds LIST            run once for each: 1..20, or 0,3,5..7; -d t4,h100 likewise for devices\n"
	"  --count                 print counters of instructions, accesses and conflicts\n"
	"  --caches                print what a model of the device's caches counts: hits, misses, DRAM\n"
	"  --check=CHECKS          look for errors, as `ptxloom check` does, whose options are taken here, too\n"
	"  --replay FILE           repeat a launch that `ptxloom run --record` wrote, instead of a kernel of FILE;\n"
	"                          for --dump, argN is what its parameter N points to, from 0\n"
	"  --trace FILE            write every access to memory and every wait to FILE (-: standard output)\n"
	"  -d, --device DEVICE     the device: a100 (default), v100, ./my.profile ..\n"
	"      --host-functions[=NAMES]\n"
	"                          the kernel may call functions of this process: all, or NAMES (separated by commas)\n"
	"      --dump-program      print the micro-ops of the kernel, and stop\n"
	"      --help              this text\n"
	"\n"
	"TYPE: b8 .. b64, u8 .. u64, s8 .. s64, f16, bf16, f32, f64.\n"
	"INIT: numbers separated by commas, zeros, ones, iota (0, 1, 2 ..), random[:SEED], @FILE (raw or .npy).\n"
	"\n"
	"Exit status: 0; 1 when FILE has errors or the kernel faults; 2 when the arguments are invalid;\n"
	"3 when an expectation is not met; 130 when it was interrupted.\n";
/* clang-format on */

/* ---- before the launch ---- */

static void print_to_stdout(void *user, const char *text, size_t len)
{
	(void)user;
	fwrite(text, 1, len, stdout);
}

/* `ptxloom debug` has started us. */
static bool exec_attach_debugger(struct exec_job *j, struct device_settings *s)
{
	struct text why = {0};

	mem_fix_addresses();
	j->debugger = debugger_attach(&why);
	if (!j->debugger)
		fprintf(stderr, "ptxloom: error: %s\n", why.at);
	text_fini(&why);
	s->sched.workers = 1;
	s->sched.deterministic = true;
	return j->debugger != NULL;
}

/* PTXLOOM_RECORD is for the launches of this command, too, if it does not repeat one. */
static bool open_recorder(struct exec_job *j, const struct device_settings *s)
{
	struct text why = {0};
	bool ok;

	j->recorder = recorder_open(s, &why);
	ok = !why.len;
	if (!ok)
		fprintf(stderr, "ptxloom: error: %s\n", why.at);
	text_fini(&why);
	return ok;
}

/* What --expect-metric and --save-metrics need. False: no memory. */
static bool count_claimed(struct exec_job *j)
{
	if (!expect_needs_metrics(&j->expect))
		return true;
	return profile_keep(&j->profile, expect_needs_caches(&j->expect), &j->expect.kept);
}

/* What PTXLOOM_PROFILE asks for, or what is expected of metrics. False after a message. */
static bool open_profile(struct exec_job *j, struct device_settings *s)
{
	struct text why = {0};
	bool ok;

	j->profile = profile_open(&why);
	if (!why.len && !count_claimed(j))
		text_puts(&why, "no memory left");
	if (j->profile && j->debugger)
		text_puts(&why, profile_why_not_debugged);
	if (why.len)
		fprintf(stderr, "ptxloom: error: %s\n", why.at);
	s->sched.deterministic |= profile_needs_order(j->profile);
	ok = !why.len;
	text_fini(&why);
	return ok;
}

/* What PTXLOOM_COVERAGE asks for; the kernel runs without, too. */
static void open_coverage(struct exec_job *j)
{
	struct text why = {0};

	if (!j->debugger)
		j->coverage = cover_open(&why);
	if (why.len)
		fprintf(stderr, "ptxloom: error: coverage is not written: %s\n", why.at);
	text_fini(&why);
	if (j->coverage)
		cover_device(j->coverage, &j->dev);
}

/* By the option or the environment, with no more memory than `bytes`, if that is not 0. */
static bool choose_profile(struct exec_job *j, u64 bytes, struct diag *d)
{
	const char *name = j->device ? j->device : setting_text(SETTING_DEVICE);

	return arch_devices_parse(&j->profiles, name ? name : "", d) &&
	       (!bytes || arch_devices_limit(&j->profiles, bytes));
}

/* What a device that is open has of the settings and of its observers. */
static void equip_device(struct exec_job *j, const struct device_settings *s,
			 const struct exec_observer *observer)
{
	j->dev.mem.strict |= (s->checks & CHECK_MEM) != 0;
	j->dev.mem.padding = (u32)setting_number(SETTING_CHECK_PADDING, 0);
	if (s->checks & CHECK_MEM && !j->debugger && !j->replay)
		exec_heap_set_apart(j->dev.syscalls.heap);
	if (j->debugger) {
		sched_set_debug(j->pool, debugger_hooks(j->debugger));
		sched_thread_apart(j->pool, 1);
		j->dev.on_program = debugger_program;
		j->dev.on_program_user = j->debugger;
	}
	j->dev.async_eager = s->async_eager;
	j->dev.host_functions = j->host_functions ? j->host_functions : s->host_functions;
	j->dev.observer = observer;
	j->dev.counts = j->watch.count && !j->watch.steps ? LOWER_COUNT_INSNS : LOWER_COUNT_NONE;
	if (j->watch.count_caches)
		j->dev.counts |= LOWER_CACHE_HINTS;
	j->dev.observer_apart =
		checks_open_apart(&j->watch.checks, j->watch.which, observer, &j->watch.findings);
	if (j->watch.which)
		checks_choose(&j->watch.checks, &j->watch.findings, &j->dev);
	if (j->profile)
		j->profile_device = profile_device_open(j->profile, &j->dev);
	open_coverage(j);
	j->dev.recorder = j->recorder;
	j->dev.syscalls.print = print_to_stdout;
}

static int open_exec_device(struct exec_job *j, struct diag *d)
{
	struct device_settings s = {0};
	struct text why = {0};
	const struct exec_observer *observer;
	int status = j->replay_path ? exec_replay_open(j, &s, d) : TOOL_OK;
	bool ok;

	if (status)
		return status;
	if (!device_settings_read(&s, &why)) {
		fprintf(stderr, "ptxloom: error: %s\n", why.at);
		text_fini(&why);
		return TOOL_USAGE;
	}
	if (!j->replay && !choose_profile(j, s.memory_bytes, d))
		return TOOL_USAGE;
	/* How strict a recorded launch was is no wish to have its errors as findings. */
	j->watch.which = j->replay_path && !setting_text(SETTING_CHECK) ? 0 : s.checks;
	if (j->watch.which & (CHECK_LEAK | CHECK_API))
		fputs("ptxloom: note: leaks and failed calls are looked for in programs only\n",
		      stderr);
	j->watch.mem = &j->dev.mem;
	j->watch.arch = j->profiles.at[0];
	observer = exec_watch_open(&j->watch, &ok, &why);
	if (!ok) {
		fprintf(stderr, "ptxloom: error: %s\n", why.at);
		text_fini(&why);
		return TOOL_USAGE;
	}
	/* What is reported is the same every time, unless more workers are asked for. */
	if (observer && (!s.sched.workers || j->watch.which & CHECKS_WATCHING))
		s.sched.workers = 1;
	if (debugger_is_wanted() && !exec_attach_debugger(j, &s))
		return TOOL_USAGE;
	if (j->debugger && j->watch.which)
		debugger_checks(j->debugger, &j->watch.findings);
	if (j->replay)
		replay_place(j->replay);
	else if (!open_recorder(j, &s))
		return TOOL_USAGE;
	if (!open_profile(j, &s))
		return TOOL_USAGE;
	if (!device_schedule_read(&s, &why)) {
		fprintf(stderr, "ptxloom exec: %s\n", why.at ? why.at : "no memory left");
		text_fini(&why);
		return TOOL_USAGE;
	}
	interrupt_prepare();
	j->pool = sched_pool_new(&s.sched);
	if (!j->pool || device_init(&j->dev, j->profiles.at[0], j->pool,
				    exec_ops_select(s.host_isa), NULL) != STATUS_SUCCESS) {
		fprintf(stderr, "ptxloom exec: no memory for the device\n");
		j->dev.arch = NULL;
		return TOOL_USAGE;
	}
	equip_device(j, &s, observer);
	return TOOL_OK;
}

static int load_program(struct exec_job *j, struct diag *d)
{
	struct file f;
	int status;

	if (!file_open(&f, j->file)) {
		fprintf(stderr, "%s: error: %s\n", j->file, strerror(errno));
		return TOOL_USAGE;
	}
	if (!f.size) {
		fprintf(stderr, "%s: error: the file is empty\n", j->file);
		status = TOOL_FINDINGS;
	} else {
		status = device_program_load_image(&j->dev, f.data, f.size, j->file, d,
						   &j->program) == STATUS_SUCCESS
				 ? TOOL_OK
				 : TOOL_FINDINGS;
	}
	file_close(&f);
	return status;
}

/* As it is called in the source: "scale", "scale<float>". NULL: none, or several, are. */
static struct device_kernel *kernel_by_source_name(const struct exec_job *j)
{
	struct device_kernel *k, *found = NULL;

	for (u32 i = 0; (k = device_program_nth(j->program, i)); i++) {
		struct text t = {0};
		const char *name;
		bool fits;

		demangle(k->func->name->text, &t);
		name = t.at ? t.at : "";
		name += strncmp(name, "void ", 5) ? 0 : 5;
		fits = !strcmp(name, j->kernel) || (!strncmp(name, j->kernel, strlen(j->kernel)) &&
						    name[strlen(j->kernel)] == '(');
		text_fini(&t);
		if (fits && found)
			return NULL;
		found = fits ? k : found;
	}
	return found;
}

static int choose_kernel(struct exec_job *j)
{
	struct device_kernel *k;

	j->k = j->kernel ? device_program_kernel(j->program, j->kernel)
			 : device_program_nth(j->program, 0);
	if (!j->k && j->kernel) {
		demangle_prepare();
		j->k = kernel_by_source_name(j);
	}
	if (j->k && (j->kernel || !device_program_nth(j->program, 1)))
		return TOOL_OK;
	if (!j->k && !j->kernel) {
		fprintf(stderr, "ptxloom exec: %s has no kernel\n", j->file);
		return TOOL_USAGE;
	}
	fprintf(stderr,
		j->kernel ? "ptxloom exec: %s has no kernel '%s'; there are:\n"
			  : "ptxloom exec: --kernel is needed; %s has:\n",
		j->file, j->kernel);
	for (u32 i = 0; (k = device_program_nth(j->program, i)); i++)
		fprintf(stderr, "  %s\n", k->func->name->text);
	return TOOL_USAGE;
}

static int list_params(const struct exec_job *j)
{
	const struct device_kernel *k = j->k;

	fprintf(stderr, "ptxloom exec: %s takes %u parameters, %zu are given:\n",
		k->func->name->text, k->param_len, j->inputs.len);
	for (u32 i = 0; i < k->param_len; i++)
		fprintf(stderr, "  .%s %s, %u bytes\n", isa_word_text(k->params[i].type),
			k->params[i].name, k->params[i].bytes);
	return TOOL_USAGE;
}

/*
 * A value of the same size: floats are not taken for integers, nor the other way round. Bits go
 * with everything, and what is declared as bits, or as several elements, takes everything.
 */
static bool goes_with(const struct exec_input *in, const struct device_param *p)
{
	const char *word = isa_word_text(p->type);
	const struct data_type *t = data_type_find(word, strlen(word));

	if (p->is_array || !t || t->kind == DATA_BITS)
		return true;
	if (in->name)
		return data_is_whole(t);
	if (in->data.array || in->data.type->kind == DATA_BITS)
		return true;
	return data_is_whole(t) ? data_is_whole(in->data.type) : t->kind == in->data.type->kind;
}

static int check_inputs(struct exec_job *j)
{
	const struct device_kernel *k = j->k;

	if (j->inputs.len != k->param_len)
		return list_params(j);
	for (u32 i = 0; i < k->param_len; i++) {
		const struct exec_input *in = &j->inputs.at[i];
		u64 bytes = in->name ? sizeof(u64) : in->data.count * in->data.type->bytes;

		if (bytes != k->params[i].bytes)
			return tool_usage(j->self, "%s: parameter %s takes %u bytes, this has %llu",
					  in->option, k->params[i].name, k->params[i].bytes,
					  (unsigned long long)bytes);
		if (!goes_with(in, &k->params[i]))
			return tool_usage(
				j->self, "%s: parameter %s is of type .%s, this is %s%s",
				in->option, k->params[i].name, isa_word_text(k->params[i].type),
				in->name ? "an address" : ".", in->name ? "" : in->data.type->name);
	}
	return TOOL_OK;
}

static int place_inputs(struct exec_job *j, void **args)
{
	for (u32 i = 0; i < j->inputs.len; i++) {
		struct exec_input *in = &j->inputs.at[i];
		u64 bytes = in->data.count * in->data.type->bytes;

		args[i] = in->data.bytes;
		if (!in->name)
			continue;
		in->address = mem_alloc(&j->dev.mem, bytes, MEM_ALIGN, MEM_KIND_DEVICE);
		if (!in->address) {
			fprintf(stderr,
				"ptxloom exec: %s: the device has no memory for %llu bytes\n",
				in->name, (unsigned long long)bytes);
			return TOOL_USAGE;
		}
		memcpy((void *)(uintptr_t)in->address, in->data.bytes, bytes);
		args[i] = &in->address;
	}
	return TOOL_OK;
}

/* ---- after it ---- */

bool exec_job_view(struct exec_job *j, const char *name, const struct data_type *type,
		   struct data *view)
{
	const struct exec_input *in = exec_job_buffer(j, name);
	u64 address, bytes;

	if (in) {
		*view = in->data;
		view->bytes = (u8 *)(uintptr_t)in->address;
		if (type) {
			view->count = view->count * view->type->bytes / type->bytes;
			view->type = type;
		}
		return true;
	}
	if (!device_program_variable(j->program, name, &address, &bytes) &&
	    !(j->replay && exec_replay_find(j, name, &address, &bytes)))
		return false;
	*view = (struct data){.type = type ? type : data_type_find("b8", 2),
			      .bytes = (u8 *)(uintptr_t)address};
	view->count = bytes / view->type->bytes;
	return true;
}

static int check_outputs(struct exec_job *j)
{
	struct data view;

	for (size_t i = 0; i < j->outputs.len; i++)
		if (!exec_job_view(j, j->outputs.at[i].name, j->outputs.at[i].data.type, &view))
			return tool_usage(j->self, "--dump: no buffer or variable '%s'",
					  j->outputs.at[i].name);
	return TOOL_OK;
}

static int write_outputs(struct exec_job *j)
{
	struct text out = {0};
	int status = TOOL_OK;

	for (size_t i = 0; i < j->outputs.len; i++) {
		const struct exec_output *o = &j->outputs.at[i];
		struct data view;

		exec_job_view(j, o->name, o->data.type, &view);
		if (!o->path) {
			data_print(&view, o->name, &out);
		} else if (!data_write(&view, o->path)) {
			fprintf(stderr, "%s: error: %s\n", o->path, strerror(errno));
			status = TOOL_USAGE;
		}
	}
	if (out.len)
		fwrite(out.at, 1, out.len, stdout);
	text_fini(&out);
	return status;
}

static void note_end(void *user, enum status status, const struct device_fault *fault)
{
	struct exec_job *j = user;

	j->status = status;
	if (fault && !expect_fault(j, fault))
		exec_watch_fault(&j->watch, fault);
}

static void print_refusal(const struct device_launch *l, enum status status)
{
	struct text why = {0};

	device_refusal_describe(l, status, &why);
	fprintf(stderr, "ptxloom exec: error: %s\n", why.at);
	text_fini(&why);
}

/*
 * What a program would ask for by function attributes is given: large clusters and shared memory.
 */
static void lift_limits(struct device_kernel *k)
{
	const struct arch *a = k->owner->dev->arch;

	k->nonportable_cluster = true;
	if (arch_is_known(a, ARCH_FIELD_smem_per_cta_optin_bytes))
		k->max_dynamic_bytes = (u32)a->smem_per_cta_optin_bytes;
}

static void describe_launch(const struct exec_job *j, void **args, struct device_launch *l)
{
	if (j->replay) {
		replay_launch_of(j->replay, l);
		return;
	}
	*l = (struct device_launch){.kernel = j->k,
				    .dynamic_bytes = j->shared,
				    .cooperative = j->cooperative,
				    .may_inline = true,
				    .args = args};
	memcpy(l->grid, j->grid, sizeof(l->grid));
	memcpy(l->block, j->block, sizeof(l->block));
	memcpy(l->cluster, j->cluster, sizeof(l->cluster));
	lift_limits(j->k);
}

/* Before what was found is forgotten. */
static void record_exec(const struct exec_job *j)
{
	struct record_process p = {.devices = j->device ? j->device : setting_text(SETTING_DEVICE),
				   .launches = j->dev.grids};
	struct text checks = {0};

	if (!record_is_on())
		return;
	checks_say(j->watch.which, &checks);
	p.checks = checks.at;
	if (j->watch.which)
		record_count(&p, &j->watch.findings);
	record_process(&p);
	text_fini(&checks);
}

static int launch_kernel(struct exec_job *j)
{
	void **args = calloc(j->inputs.len + 1, sizeof(*args));
	struct device_launch l;
	struct interrupt interrupt;
	bool interrupted, launched = false;
	enum status status;
	int result = args ? place_inputs(j, args) : TOOL_USAGE;

	if (!result)
		result = check_outputs(j);
	if (!result)
		result = expect_prepare(j);
	if (!result) {
		launched = true;
		describe_launch(j, args, &l);
		interrupt_begin(&interrupt, j->pool,
				j->debugger ? ATTEND_NEVER
					    : setting_number(SETTING_PROGRESS, ATTEND_AUTO));
		status = j->replay ? replay_launch(j->replay, note_end, j)
				   : device_launch(&l, note_end, j);
		device_wait(&j->dev);
		interrupted = interrupt_end(&interrupt);
		if (status == STATUS_SUCCESS)
			status = j->status;
		else
			print_refusal(&l, status);
		result = status == STATUS_SUCCESS ? TOOL_OK
			 : interrupted            ? INTERRUPT_STATUS
						  : TOOL_FINDINGS;
	}
	if (!result)
		result = write_outputs(j);
	if (launched)
		result = expect_judge(j, result);
	if (launched)
		record_exec(j);
	if (!exec_watch_close(&j->watch)) {
		fprintf(stderr, "%s: error: %s\n", j->watch.trace_path, strerror(errno));
		result = TOOL_USAGE;
	}
	if ((!result || result == TOOL_FINDINGS) && j->watch.failed)
		result = (int)setting_number(SETTING_CHECK_STATUS, CHECK_EXIT_FOUND);
	free(args);
	return result;
}

static int dump_program(struct exec_job *j, struct diag *d)
{
	const u32 *block = j->block;
	const struct program *p;
	struct text out = {0};
	u64 threads;

	if (!size_mul((u64)block[0] * block[1], block[2], &threads) || !threads ||
	    threads > (u64)j->dev.arch->threads_per_cta_max)
		return tool_usage(j->self, "--block: a CTA of the device has 1 to %d threads",
				  (int)j->dev.arch->threads_per_cta_max);
	p = device_kernel_lower(j->k, (u32)threads, d);
	if (!p)
		return TOOL_FINDINGS;
	exec_dump_program(p, &out);
	if (out.len)
		fwrite(out.at, 1, out.len, stdout);
	text_fini(&out);
	return TOOL_OK;
}

/* PTXLOOM_STATS=1: what compiled runs have done, where there are any. */
static void print_stats(void)
{
	char text[128];

	if (!stats_on())
		return;
	if (tier_stats_text(text, sizeof(text)))
		fprintf(stderr, "ptxloom: stats:   code        %s\n", text);
	stats_close();
}

static int run_job(struct exec_job *j)
{
	struct diag d;
	int status;

	diag_init(&d, diag_print, stderr);
	if (setting_number(SETTING_STATS, 0))
		stats_open();
	status = open_exec_device(j, &d);
	if (!status && j->replay)
		status = exec_replay_load(j, &d);
	else if (!status && !(status = load_program(j, &d)))
		status = choose_kernel(j);
	if (!status && j->dump_program)
		status = dump_program(j, &d);
	else if (!status && (j->replay || !(status = check_inputs(j))))
		status = launch_kernel(j);
	print_stats();
	diag_fini(&d);
	return status;
}

static void job_close(struct exec_job *j)
{
	device_program_unload(j->program);
	sched_pool_free(j->pool);
	if (j->dev.arch)
		device_fini(&j->dev);
	if (j->debugger)
		debugger_exiting(j->debugger);
	debugger_free(j->debugger);
	profile_device_close(j->profile_device);
	profile_close(j->profile);
	cover_close(j->coverage);
	replay_close(j->replay);
	if (j->recorder)
		recorder_say_end(j->recorder);
	recorder_close(j->recorder);
	arch_devices_fini(&j->profiles);
	exec_job_fini(j);
}

/* The command line, whose words the parser moves about. */
struct exec_words {
	const struct tool_command *self;
	int argc;
	char **argv;
};

static int parse_job(struct exec_job *j, const struct exec_words *w, char **copy)
{
	*j = (struct exec_job){.self = w->self, .grid = {1, 1, 1}, .block = {1, 1, 1}};
	memcpy(copy, w->argv, sizeof(*copy) * ((size_t)w->argc + 1));
	return exec_job_parse(j, w->argc, copy);
}

static int run_with(void *user, const char *device, const char *label)
{
	const struct exec_words *w = user;
	char **copy = calloc((size_t)w->argc + 1, sizeof(*copy));
	struct exec_job j;
	int status = copy ? parse_job(&j, w, copy) : TOOL_USAGE;

	if (!copy)
		return status;
	j.device = device;
	if (status == TOOL_OK && j.outputs.len && *label)
		printf("%s:\n", label);
	if (status == TOOL_OK)
		status = run_job(&j);
	job_close(&j);
	free(copy);
	return status;
}

int tool_main_exec(const struct tool_command *self, int argc, char **argv)
{
	struct exec_words w = {self, argc, argv};
	char **copy = calloc((size_t)argc + 1, sizeof(*copy));
	const char *devices, *seeds;
	struct exec_job j;
	int status;

	if (!copy)
		return TOOL_USAGE;
	status = parse_job(&j, &w, copy);
	devices = j.device;
	seeds = j.seeds;
	if (status == TOOL_OK && (seeds || (devices && strchr(devices, ',')))) {
		bool saves = j.expect.saved.save;

		job_close(&j);
		status = saves ? tool_usage(self, "--save-metrics is for one run, not for lists of "
						  "devices or seeds")
			       : many_run(devices, seeds, run_with, &w);
	} else {
		if (status == TOOL_OK)
			status = run_job(&j);
		job_close(&j);
	}
	free(copy);
	return status < 0 ? TOOL_OK : status;
}
