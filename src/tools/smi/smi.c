/*
 * `ptxloom smi`, and `nvidia-smi` for programs below `ptxloom run`: options as nvidia-smi has them.
 */
#include "src/tools/smi/smi.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

const char tool_help_smi[] =
	"As nvidia-smi would answer on a machine with the devices of PTXLOOM_DEVICE; below `ptxloom run`\n"
	"programs find it as nvidia-smi. Without options: a table of devices and of the processes that use\n"
	"them.\n"
	"\n"
	"  -L, --list-gpus            the devices, one a line\n"
	"  -q, --query                everything about each device\n"
	"  -x, --xml-format           the same as XML\n"
	"  -d, --display=SECTIONS     of that only: MEMORY,UTILIZATION,ECC,TEMPERATURE,POWER,CLOCK,COMPUTE,\n"
	"                             PIDS,PERFORMANCE\n"
	"  --query-gpu=FIELDS         these fields of each device: name,memory.total\n"
	"  --query-compute-apps=FIELDS\n"
	"                             these fields of each process: pid,used_gpu_memory\n"
	"  --format=csv[,noheader][,nounits]\n"
	"                             how the fields are printed; has to be there\n"
	"  --help-query-gpu, --help-query-compute-apps\n"
	"                             the fields that there are\n"
	"  -i, --id=LIST              these devices only: numbers, UUIDs or PCI addresses\n"
	"  -f, --filename=FILE        print to FILE\n"
	"  -l, --loop=SECONDS         print again after this time, until the end; -lms, --loop-ms=TIME\n"
	"  topo -m                    how the devices are connected\n"
	"  --version                  the versions that are said\n"
	"  --help                     this text\n"
	"\n"
	"What an emulated device has not, or what is not known, is N/A. Settings are not supported.\n"
	"Exit status: 0; 2 for wrong arguments, 3 for what is not supported, 6 when no device was found.\n";

struct smi_options {
	bool list, query, xml, topology;
	const char *sections, *devices, *processes, *format, *ids, *file;
	u64 loop_ms;
};

/* ---- options ---- */

enum smi_kind { FLAG, VALUE, SECONDS, MILLISECONDS, SETTING };

/* One of the table; `at` is its place in struct smi_options. */
static const struct smi_option {
	const char *shorter, *longer;
	enum smi_kind kind;
	size_t at;
} smi_options[] = {
#define AT(member) offsetof(struct smi_options, member)
	{"-L", "--list-gpus", FLAG, AT(list)},
	{"-q", "--query", FLAG, AT(query)},
	{"-x", "--xml-format", FLAG, AT(xml)},
	{"-d", "--display", VALUE, AT(sections)},
	{NULL, "--query-gpu", VALUE, AT(devices)},
	{NULL, "--query-compute-apps", VALUE, AT(processes)},
	{NULL, "--format", VALUE, AT(format)},
	{"-i", "--id", VALUE, AT(ids)},
	{"-f", "--filename", VALUE, AT(file)},
	{"-l", "--loop", SECONDS, AT(loop_ms)},
	{"-lms", "--loop-ms", MILLISECONDS, AT(loop_ms)},
#undef AT
	{"-pm", "--persistence-mode", SETTING, 0},
	{"-c", "--compute-mode", SETTING, 0},
	{"-e", "--ecc-config", SETTING, 0},
	{"-pl", "--power-limit", SETTING, 0},
	{"-ac", "--applications-clocks", SETTING, 0},
	{"-lgc", "--lock-gpu-clocks", SETTING, 0},
	{"-rgc", "--reset-gpu-clocks", SETTING, 0},
	{"-mig", "--multi-instance-gpu", SETTING, 0},
	{"-r", "--gpu-reset", SETTING, 0},
	{"-am", "--accounting-mode", SETTING, 0},
};

static const struct smi_option *find_smi_option(const char *word, const char **value)
{
	size_t n = strcspn(word, "=");

	*value = word[n] ? word + n + 1 : NULL;
	for (size_t i = 0; i < ARRAY_LEN(smi_options); i++) {
		const struct smi_option *o = &smi_options[i];

		if ((o->shorter && strlen(o->shorter) == n && !memcmp(o->shorter, word, n)) ||
		    (strlen(o->longer) == n && !memcmp(o->longer, word, n)))
			return o;
	}
	return NULL;
}

static int set_loop(const struct tool_command *self, struct smi_options *o, const char *value,
		    bool in_ms)
{
	char *end;
	u64 n = strtoull(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || n > 1000000000)
		return tool_usage(self, "'%s' is not a time", value);
	o->loop_ms = in_ms ? n : n * 1000;
	return TOOL_OK;
}

static int take_smi_option(const struct tool_command *self, struct smi_options *o, int argc,
			   char **argv, int *i)
{
	const char *word = argv[*i], *value;
	const struct smi_option *option = find_smi_option(word, &value);
	char *to = (char *)o;

	if (!option)
		return tool_usage(self, "unknown option '%s'", word);
	if (option->kind == SETTING) {
		printf("%s: settings of an emulated device are not supported.\n", word);
		return SMI_NOT_SUPPORTED;
	}
	if (option->kind == FLAG) {
		if (value)
			return tool_usage(self, "%s takes no value", option->longer);
		*(bool *)(to + option->at) = true;
		return TOOL_OK;
	}
	if (!value && *i + 1 < argc && argv[*i + 1][0] != '-')
		value = argv[++*i];
	if (!value && (option->kind == SECONDS || option->kind == MILLISECONDS))
		value = "5";
	if (!value)
		return tool_usage(self, "there is no value for '%s'", word);
	if (option->kind != VALUE)
		return set_loop(self, o, value, option->kind == MILLISECONDS);
	*(const char **)(to + option->at) = value;
	return TOOL_OK;
}

/* ---- devices ---- */

static bool choose_device(struct smi_devices *out, const char *id)
{
	struct nvml_device *d = NULL;
	char *end;
	u64 n = strtoull(id, &end, 10);

	if (*id >= '0' && *id <= '9' && !*end)
		d = n < nvml_count() ? nvml_device_at((u32)n) : NULL;
	else if (nvmlDeviceGetHandleByUUID(id, &d) && nvmlDeviceGetHandleByPciBusId(id, &d))
		d = NULL;
	if (d && out->len < ARRAY_LEN(out->at))
		out->at[out->len++] = d;
	return d != NULL;
}

/* False after a message. */
static bool choose_devices(struct smi_devices *out, const char *ids)
{
	char *copy = ids ? strdup(ids) : NULL, *rest = copy, *id;
	bool ok = true;

	*out = (struct smi_devices){0};
	for (u32 i = 0; !ids && i < nvml_count(); i++)
		out->at[out->len++] = nvml_device_at(i);
	while (ok && rest && (id = strsep(&rest, ",")))
		ok = choose_device(out, id);
	free(copy);
	if (!ok)
		puts("No devices were found");
	return ok;
}

/* ---- what is printed ---- */

static int put_answer(struct text *t, const struct smi_options *o,
		      const struct smi_devices *devices, const struct smi_format *format)
{
	if (o->devices)
		return smi_query_devices(t, devices, o->devices, format);
	if (o->processes)
		return smi_query_processes(t, devices, o->processes, format);
	if (o->query)
		return smi_log(t, devices, o->sections, o->xml) ? TOOL_OK : TOOL_USAGE;
	if (o->topology)
		smi_topology(t, devices);
	else
		(o->list ? smi_list : smi_table)(t, devices);
	return TOOL_OK;
}

/* A file is opened, and emptied, once there is an answer to write. */
static int write_answer(const struct tool_command *self, const struct text *t, const char *file,
			FILE **to)
{
	if (!*to && !(*to = fopen(file, "we")))
		return tool_usage(self, "%s: cannot be written", file);
	fwrite(t->at, 1, t->len, *to);
	if (fflush(*to) == 0 && !ferror(*to))
		return TOOL_OK;
	fprintf(stderr, "ptxloom %s: %s: cannot be written\n", self->name,
		file ? file : "standard output");
	return TOOL_USAGE;
}

static int print_answer(const struct tool_command *self, const struct smi_options *o,
			const struct smi_devices *devices, const struct smi_format *format,
			FILE **to)
{
	struct text t = {0};
	int status = put_answer(&t, o, devices, format);

	if (!status && t.failed) {
		fprintf(stderr, "ptxloom %s: out of memory\n", self->name);
		status = TOOL_USAGE;
	} else if (!status && t.at) {
		status = write_answer(self, &t, o->file, to);
	}
	text_fini(&t);
	return status;
}

static void wait_ms(u64 ms)
{
	nanosleep(&(struct timespec){(time_t)(ms / 1000), (long)(ms % 1000) * 1000000}, NULL);
}

/* False after a message: the options do not go together. */
static bool is_smi_use(const struct tool_command *self, const struct smi_options *o)
{
	bool is_query = o->devices || o->processes;

	if (is_query && !o->format)
		tool_usage(self, "--format=csv is needed with --query-gpu and "
				 "--query-compute-apps");
	else if (o->format && !is_query)
		tool_usage(self, "--format is for --query-gpu and --query-compute-apps");
	else if ((o->xml || o->sections) && !o->query)
		tool_usage(self, "-x and -d need -q");
	else
		return true;
	return false;
}

static int run_smi(const struct tool_command *self, const struct smi_options *o)
{
	struct smi_format format = {0};
	struct smi_devices devices;
	FILE *to = o->file ? NULL : stdout;
	int status;

	if (!is_smi_use(self, o) || (o->format && !smi_format_read(o->format, &format)))
		return TOOL_USAGE;
	if (!choose_devices(&devices, o->ids))
		return SMI_NO_DEVICE;
	do {
		status = print_answer(self, o, &devices, &format, &to);
		if (!status && o->loop_ms)
			wait_ms(o->loop_ms);
	} while (!status && o->loop_ms);
	if (to && to != stdout)
		fclose(to);
	return status;
}

static int print_versions(void)
{
	puts("NVIDIA-SMI version  : " NVML_DRIVER "\nNVML version        : " NVML_LIBRARY
	     "\nDRIVER version      : " NVML_DRIVER "\nCUDA Version        : 13.0");
	return TOOL_OK;
}

static int print_help_of(void (*help)(struct text *t))
{
	struct text t = {0};

	help(&t);
	if (t.at)
		fputs(t.at, stdout);
	text_fini(&t);
	return TOOL_OK;
}

static bool is_smi_word(const char *word, const char *a, const char *b)
{
	return !strcmp(word, a) || !strcmp(word, b);
}

int tool_main_smi(const struct tool_command *self, int argc, char **argv)
{
	struct smi_options o = {0};
	int status = TOOL_OK, i = 1;

	if (i < argc && !strcmp(argv[i], "topo")) {
		if (++i < argc && !is_smi_word(argv[i], "-m", "--matrix"))
			return tool_usage(self, "topo -m is the only one of these commands");
		o.topology = true;
		i++;
	} else if (i < argc && argv[i][0] != '-') {
		return tool_usage(self, "'%s' is not supported", argv[i]);
	}
	for (; i < argc && !status; i++) {
		if (is_smi_word(argv[i], "-h", "--help"))
			return tool_help(self);
		if (!strcmp(argv[i], "--version"))
			return print_versions();
		if (!strcmp(argv[i], "--help-query-gpu"))
			return print_help_of(smi_help_devices);
		if (!strcmp(argv[i], "--help-query-compute-apps"))
			return print_help_of(smi_help_processes);
		status = take_smi_option(self, &o, argc, argv, &i);
	}
	if (status)
		return status;
	if (nvmlInit_v2())
		return TOOL_USAGE;
	status = run_smi(self, &o);
	nvmlShutdown();
	return status;
}
