/*
 * ptxloom devices: the device profiles, and every field of one with its source.
 */
#include "src/arch/arch.h"
#include "src/base/file.h"
#include "src/base/setting.h"
#include "src/tools/images.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>

const char tool_help_devices[] =
	"Without NAME: the built-in device profiles. With NAME: every field of one profile, its value,\n"
	"unit and source; \"unknown\" if there is no source. NAME is a chip or product (a100,\n"
	"ga100) or a profile of your own: a path, or a file name that ends in .profile.\n"
	"\n"
	"  --json             write JSON: an array of objects\n"
	"  --ctest-resources  write the resource file of CTest for the devices that NAME lists (2xh100,t4;\n"
	"                     default: PTXLOOM_DEVICE): gpus with 100 slots each, for the property\n"
	"                     RESOURCE_GROUPS of tests\n"
	"\n"
	"Exit status: 0; 1 when a profile has errors; 2 when there is no such profile or file.\n";

/* Widths of the two first columns of the field list; longer values push the source to the right. */
#define NAME_WIDTH 33
#define VALUE_WIDTH 34

/* Columns of the table of profiles. */
static const struct {
	enum arch_field field;
	const char *head;
	int width;
} columns[] = {
	{ARCH_FIELD_name, "PRODUCT", 24},
	{ARCH_FIELD_chip, "CHIP", 6},
	{ARCH_FIELD_sm, "CC", 5},
	{ARCH_FIELD_sms, "SMS", 4},
	{ARCH_FIELD_memory_bytes, "MEMORY", 10},
	{ARCH_FIELD_l2_bytes, "L2", 7},
	{ARCH_FIELD_smem_per_sm_bytes, "SHARED/SM", 10},
	{ARCH_FIELD_has_its, "ITS", 5},
	{ARCH_FIELD_aliases, "ALIASES", 0},
};

/* Fields of an object in the list of profiles. */
static const enum arch_field listed[] = {
	ARCH_FIELD_name,         ARCH_FIELD_chip,
	ARCH_FIELD_architecture, ARCH_FIELD_sm,
	ARCH_FIELD_sms,          ARCH_FIELD_memory_bytes,
	ARCH_FIELD_l2_bytes,     ARCH_FIELD_smem_per_sm_bytes,
	ARCH_FIELD_has_its,
};

/* 42405855232 -> "39.5 GiB": one digit after the point unless it is 0. */
static void put_bytes(struct text *t, u64 bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	u64 tenths = bytes * 10;
	u32 unit = 0;

	for (; tenths >= 10240 && unit + 1 < ARRAY_LEN(units); unit++)
		tenths = (tenths + 512) / 1024;
	text_printf(t, "%" PRIu64, tenths / 10);
	if (tenths % 10)
		text_printf(t, ".%" PRIu64, tenths % 10);
	text_printf(t, " %s", units[unit]);
}

/* One cell of the table: numbers in the form that people compare them in. */
static void put_cell(struct text *t, const struct arch *a, enum arch_field f)
{
	if (!arch_is_known(a, f))
		text_puts(t, "unknown");
	else if (f == ARCH_FIELD_sm)
		text_printf(t, "%d.%d", a->sm / 10, a->sm % 10);
	else if (f == ARCH_FIELD_memory_bytes)
		put_bytes(t, a->memory_bytes);
	else if (f == ARCH_FIELD_l2_bytes)
		put_bytes(t, (u64)a->l2_bytes);
	else if (f == ARCH_FIELD_smem_per_sm_bytes)
		put_bytes(t, (u64)a->smem_per_sm_bytes);
	else if (f == ARCH_FIELD_has_its)
		text_puts(t, a->has_its ? "yes" : "no");
	else
		arch_format(t, a, f);
}

/* Blanks up to `width` columns after `start`, one at least; no column has a width of 0. */
static void pad(struct text *t, size_t start, int width)
{
	do
		text_puts(t, " ");
	while (t->len - start < (size_t)width);
}

static void put_table(struct text *t)
{
	const struct arch *a;

	text_puts(t, "NAME   ");
	for (u32 c = 0; c < ARRAY_LEN(columns); c++)
		text_printf(t, columns[c].width ? "%-*s" : "%*s\n", columns[c].width,
			    columns[c].head);
	for (u32 i = 0; (a = arch_nth(i)); i++) {
		text_printf(t, "%-7s", a->id);
		for (u32 c = 0; c < ARRAY_LEN(columns); c++) {
			size_t start = t->len;

			put_cell(t, a, columns[c].field);
			if (columns[c].width)
				pad(t, start, columns[c].width);
		}
		while (t->len && t->at[t->len - 1] == ' ')
			t->len--;
		text_puts(t, "\n");
	}
}

static void put_table_json(struct text *t)
{
	const struct arch *a;

	text_puts(t, "[");
	for (u32 i = 0; (a = arch_nth(i)); i++) {
		text_puts(t, i ? ",\n {\"id\": " : "\n {\"id\": ");
		text_json_string(t, a->id);
		text_printf(t, ", \"compute_capability\": \"%d.%d\"", a->cc_major, a->cc_minor);
		for (u32 f = 0; f < ARRAY_LEN(listed); f++) {
			text_printf(t, ", \"%s\": ", arch_field_info(listed[f])->name);
			arch_format_json(t, a, listed[f]);
		}
		text_puts(t, ", \"aliases\": [");
		for (const char *w = a->aliases; *w; w += strspn(w, " ")) {
			size_t n = strcspn(w, " ");

			text_printf(t, "%s\"%.*s\"", w == a->aliases ? "" : ", ", (int)n, w);
			w += n;
		}
		text_puts(t, "]}");
	}
	text_puts(t, "\n]\n");
}

/* ---- One profile ---- */

static void put_field(struct text *t, const struct arch *a, enum arch_field f)
{
	const struct arch_field_info *info = arch_field_info(f);
	size_t start = t->len;

	text_printf(t, "  %s", info->name);
	pad(t, start, NAME_WIDTH);
	start = t->len;
	arch_format(t, a, f);
	if (t->len == start)
		text_puts(t, "none");
	else if (arch_is_known(a, f) && *info->unit)
		text_printf(t, " %s", info->unit);
	if (arch_is_known(a, f)) {
		pad(t, start, VALUE_WIDTH);
		text_puts(t, arch_source(a, f));
	}
	text_puts(t, "\n");
}

static void put_profile(struct text *t, const struct arch *a)
{
	const char *group = "";

	text_puts(t, a->id);
	if (a->parent)
		text_printf(t, " (inherits %s)", a->parent);
	text_puts(t, "\n");
	for (u32 f = 0; f < ARCH_FIELD_COUNT; f++) {
		const struct arch_field_info *info = arch_field_info((enum arch_field)f);

		if (strcmp(group, info->group))
			text_printf(t, "%s\n", info->group);
		group = info->group;
		put_field(t, a, (enum arch_field)f);
	}
}

static void put_profile_json(struct text *t, const struct arch *a)
{
	text_puts(t, "[\n {\"id\": ");
	text_json_string(t, a->id);
	text_puts(t, ", \"parent\": ");
	if (a->parent)
		text_json_string(t, a->parent);
	else
		text_puts(t, "null");
	text_puts(t, ", \"fields\": {");
	for (u32 f = 0; f < ARCH_FIELD_COUNT; f++) {
		const struct arch_field_info *info = arch_field_info((enum arch_field)f);

		text_printf(t, "%s\n  \"%s\": {\"value\": ", f ? "," : "", info->name);
		arch_format_json(t, a, (enum arch_field)f);
		text_puts(t, ", \"unit\": ");
		text_json_string(t, info->unit);
		text_puts(t, ", \"source\": ");
		if (arch_is_known(a, (enum arch_field)f))
			text_json_string(t, arch_source(a, (enum arch_field)f));
		else
			text_puts(t, "null");
		text_puts(t, "}");
	}
	text_puts(t, "\n }}\n]\n");
}

/* A user's profile. Returns an exit status; *loaded is the caller's to free. */
static int load_profile(const struct tool_command *self, const char *path, struct arch **loaded)
{
	struct diag_source src = {.name = path};
	struct file file;
	struct diag d;

	if (!file_open(&file, path)) {
		fprintf(stderr, "ptxloom %s: error: %s: %s\n", self->name, path, strerror(errno));
		return TOOL_USAGE;
	}
	src.text = (const char *)file.data;
	src.size = file.size;
	diag_init(&d, diag_print, stderr);
	*loaded = arch_parse(&src, &d);
	diag_fini(&d);
	file_close(&file);
	return *loaded ? TOOL_OK : TOOL_FINDINGS;
}

/* What CTest shares out among tests: percents of each device, as RAPIDS and others count them. */
static int put_resources(const char *spec, struct text *t)
{
	struct arch_devices devices;
	struct diag d;
	bool ok;

	diag_init(&d, diag_print, stderr);
	ok = arch_devices_parse(&devices, spec, &d);
	diag_fini(&d);
	if (!ok)
		return TOOL_USAGE;
	text_puts(t, "{\"version\": {\"major\": 1, \"minor\": 0},\n \"local\": [{\"gpus\": [");
	for (u32 i = 0; i < devices.len; i++)
		text_printf(t, "%s\n  {\"id\": \"%u\", \"slots\": 100}", i ? "," : "", i);
	text_puts(t, "\n]}]}\n");
	arch_devices_fini(&devices);
	return TOOL_OK;
}

/* Write t; memory that ran out is an error. */
static int print_devices(const struct tool_command *self, struct text *t)
{
	if (t->failed)
		fprintf(stderr, "ptxloom %s: out of memory\n", self->name);
	else if (t->at)
		fwrite(t->at, 1, t->len, stdout);
	return t->failed ? TOOL_USAGE : TOOL_OK;
}

int tool_main_devices(const struct tool_command *self, int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
						{"ctest-resources", no_argument, NULL, 'r'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	const char *name;
	const struct arch *a = NULL;
	struct arch *loaded = NULL;
	struct text t = {0};
	bool json = false, resources = false;
	int c, status = TOOL_OK;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return tool_help(self);
		if (c != 'j' && c != 'r')
			return tool_usage(self, "unknown option '%s'", argv[optind - 1]);
		*(c == 'j' ? &json : &resources) = true;
	}
	if (argc - optind > 1)
		return tool_usage(self, "more than one name given");
	name = argv[optind];
	if (resources && json)
		return tool_usage(self, "--json and --ctest-resources: one at a time");
	if (resources) {
		const char *set = setting_text(SETTING_DEVICE);

		status = put_resources(name ? name : set ? set : "", &t);
		status = status ? status : print_devices(self, &t);
		text_fini(&t);
		return status;
	}
	if (name && arch_name_is_path(name, strlen(name)))
		status = load_profile(self, name, &loaded);
	else if (name && !(a = arch_find(name)))
		return tool_usage(self, "no device '%s'; without a NAME the command lists all",
				  name);
	if (status)
		return status;
	if (loaded)
		a = loaded;
	if (!a)
		(json ? put_table_json : put_table)(&t);
	else
		(json ? put_profile_json : put_profile)(&t, a);
	status = print_devices(self, &t);
	text_fini(&t);
	arch_free(loaded);
	return status;
}
