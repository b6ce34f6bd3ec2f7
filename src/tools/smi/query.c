/*
 * Selected fields of devices and processes, as comma-separated values.
 */
#include "src/tools/smi/smi.h"

#include <inttypes.h>
#include <stdio.h>

#define MISSING "[N/A]"

/* ---- options ---- */

bool smi_format_read(const char *value, struct smi_format *out)
{
	static const char *const words[] = {"csv", "noheader", "nounits"};
	bool *const to[] = {&out->csv, &out->no_header, &out->no_units};

	for (const char *at = value; *at;) {
		size_t n = strcspn(at, ","), i = 0;

		while (i < ARRAY_LEN(words) && (strlen(words[i]) != n || memcmp(words[i], at, n)))
			i++;
		if (i == ARRAY_LEN(words)) {
			printf("Format \"%.*s\" is not a valid format to output.\n\n", (int)n, at);
			return false;
		}
		*to[i] = true;
		at += n + (at[n] == ',');
		at += strspn(at, " ");
	}
	if (!out->csv)
		printf("The \"csv\" format is the only one: --format=csv[,noheader][,nounits]\n\n");
	return out->csv;
}

/* The next name of a list; false at its end. */
static bool next_name(const char **at, const char **name, size_t *n)
{
	*at += strspn(*at, " ");
	if (!**at)
		return false;
	*name = *at;
	*n = strcspn(*at, ", ");
	*at += *n;
	*at += strspn(*at, " ");
	if (**at == ',')
		(*at)++;
	return true;
}

static int no_field(const char *name, size_t n)
{
	printf("Field \"%.*s\" is not a valid field to query.\n\n", (int)n, name);
	return TOOL_USAGE;
}

static void put_title(struct text *t, const char *name, const char *unit)
{
	text_printf(t, unit ? "%s%s [%s]" : "%s%s", t->len ? ", " : "", name, unit);
}

/* ---- devices ---- */

int smi_query_devices(struct text *t, const struct smi_devices *devices, const char *fields,
		      const struct smi_format *format)
{
	const char *at = fields, *name;
	struct text title = {0};
	size_t n;

	while (next_name(&at, &name, &n)) {
		const struct smi_field *f = smi_field_find(name, n);

		if (!f) {
			text_fini(&title);
			return no_field(name, n);
		}
		put_title(&title, f->name, f->unit);
	}
	if (!format->no_header && title.at)
		text_printf(t, "%s\n", title.at);
	t->failed |= title.failed;
	text_fini(&title);
	for (u32 i = 0; i < devices->len; i++) {
		at = fields;
		for (bool first = true; next_name(&at, &name, &n); first = false) {
			text_puts(t, first ? "" : ", ");
			smi_field_put(t, smi_field_find(name, n), devices->at[i], !format->no_units,
				      MISSING);
		}
		text_puts(t, "\n");
	}
	return TOOL_OK;
}

/* ---- processes ---- */

enum process_field { TIME, DEVICE, BUS, SERIAL, UUID, PID, NAME, MEMORY, PROCESS_FIELDS };

static const struct {
	const char *name, *other, *unit, *meaning;
	const char *field; /* of the device; NULL: it is of the process */
} process_fields[PROCESS_FIELDS] = {
	[TIME] = {"timestamp", NULL, NULL, "time of the query", "timestamp"},
	[DEVICE] = {"gpu_name", NULL, NULL, "product", "name"},
	[BUS] = {"gpu_bus_id", NULL, NULL, "domain:bus:device.function", "pci.bus_id"},
	[SERIAL] = {"gpu_serial", NULL, NULL, "serial number", "serial"},
	[UUID] = {"gpu_uuid", NULL, NULL, "identifier of the device", "uuid"},
	[PID] = {"pid", NULL, NULL, "process", NULL},
	[NAME] = {"process_name", "name", NULL, "its program", NULL},
	[MEMORY] = {"used_gpu_memory", "used_memory", "MiB", "what it has allocated", NULL},
};

static int find_process_field(const char *name, size_t n)
{
	for (int i = 0; i < PROCESS_FIELDS; i++) {
		const char *names[] = {process_fields[i].name, process_fields[i].other};

		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (names[k] && strlen(names[k]) == n && !memcmp(names[k], name, n))
				return i;
	}
	return -1;
}

struct process_query {
	struct text *text;
	struct nvml_device *device;
	const char *fields;
	const struct smi_format *format;
};

static void put_process_field(const struct process_query *q, int f, const struct smi_process *p)
{
	if (process_fields[f].field)
		smi_field_put(
			q->text,
			smi_field_find(process_fields[f].field, strlen(process_fields[f].field)),
			q->device, false, MISSING);
	else if (f == PID)
		text_printf(q->text, "%u", p->pid);
	else if (f == NAME)
		text_puts(q->text, p->name);
	else
		text_printf(q->text, "%" PRIu64 "%s", p->bytes >> 20,
			    q->format->no_units ? "" : " MiB");
}

static void put_process(void *user, const struct smi_process *p)
{
	const struct process_query *q = user;
	const char *at = q->fields, *name;
	size_t n;

	for (bool first = true; next_name(&at, &name, &n); first = false) {
		text_puts(q->text, first ? "" : ", ");
		put_process_field(q, find_process_field(name, n), p);
	}
	text_puts(q->text, "\n");
}

int smi_query_processes(struct text *t, const struct smi_devices *devices, const char *fields,
			const struct smi_format *format)
{
	const char *at = fields, *name;
	struct text title = {0};
	size_t n;

	while (next_name(&at, &name, &n)) {
		int f = find_process_field(name, n);

		if (f < 0) {
			text_fini(&title);
			return no_field(name, n);
		}
		put_title(&title, process_fields[f].name, process_fields[f].unit);
	}
	if (!format->no_header && title.at)
		text_printf(t, "%s\n", title.at);
	text_fini(&title);
	for (u32 i = 0; i < devices->len; i++) {
		struct process_query q = {t, devices->at[i], fields, format};

		smi_processes(devices->at[i], put_process, &q);
	}
	return TOOL_OK;
}

/* ---- what there is ---- */

static void put_field_help(struct text *t, const char *name, const char *other, const char *meaning)
{
	text_printf(t, "\"%s\"", name);
	if (other)
		text_printf(t, " or \"%s\"", other);
	text_printf(t, "\n%s\n\n", meaning);
}

void smi_help_devices(struct text *t)
{
	const struct smi_field *f;

	text_puts(t, "List of valid properties to query for the switch \"--query-gpu=\":\n\n");
	for (size_t i = 0; (f = smi_field_nth(i)); i++) {
		struct text meaning = {0};

		text_printf(&meaning, "%s%s", f->meaning,
			    f->get ? "" : "; not known of an emulated device");
		put_field_help(t, f->name, f->other, meaning.at ? meaning.at : "");
		text_fini(&meaning);
	}
}

void smi_help_processes(struct text *t)
{
	text_puts(
		t,
		"List of valid properties to query for the switch \"--query-compute-apps=\":\n\n");
	for (size_t i = 0; i < PROCESS_FIELDS; i++)
		put_field_help(t, process_fields[i].name, process_fields[i].other,
			       process_fields[i].meaning);
}
