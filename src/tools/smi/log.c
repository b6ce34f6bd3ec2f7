/*
 * `ptxloom smi -q`: everything about each device, as text or XML.
 */
#include "src/base/utf8.h"
#include "src/tools/smi/smi.h"

#include <stdio.h>

#define VALUE_COLUMN 42

static const struct log_row {
	u32 level;
	const char *section, *title, *element;
	const char *field, *unit; /* of a line; NULL: it is a group */
} rows[] = {
#define GROUP(level, section, title, element) {level, section, title, element, NULL, NULL},
#define LINE(level, title, element, field, unit) {level, NULL, title, element, field, unit},
#include "src/tools/smi/log.def"
};

struct log_out {
	struct text *text;
	bool xml;
	const char *open[8]; /* elements, by level */
	u32 depth;
	const char *sections; /* NULL: all */
};

/* ---- writing ---- */

static void put_indent(struct log_out *o, u32 level)
{
	for (u32 i = 0; i < level; i++)
		text_puts(o->text, o->xml ? "\t" : "    ");
}

/* Elements deeper than this, or as deep, end. */
static void log_close(struct log_out *o, u32 level)
{
	while (o->depth > level) {
		o->depth--;
		if (!o->xml || !o->open[o->depth])
			continue;
		put_indent(o, o->depth + 1);
		text_printf(o->text, "</%s>\n", o->open[o->depth]);
	}
}

static void log_open(struct log_out *o, u32 level, const char *title, const char *element)
{
	log_close(o, level);
	put_indent(o, level + o->xml);
	text_printf(o->text, o->xml ? "<%s>\n" : "%s\n", o->xml ? element : title);
	o->open[level] = element;
	o->depth = level + 1;
}

static void log_line(struct log_out *o, u32 level, const char *title, const char *element,
		     const char *value)
{
	put_indent(o, level + o->xml);
	if (o->xml) {
		text_printf(o->text, "<%s>", element);
		text_xml(o->text, value);
		text_printf(o->text, "</%s>\n", element);
	} else {
		text_printf(o->text, "%-*s: %s\n", (int)(VALUE_COLUMN - 4 * level), title, value);
	}
}

/* ---- devices ---- */

static bool is_in_list(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
		if (strcspn(at, ",") == n && !strncasecmp(at, word, n))
			return true;
	return false;
}

static void put_log_field(struct text *t, const struct log_row *r, struct nvml_device *d)
{
	static const char *const brands[] = {[1] = "Quadro", [2] = "Tesla",       [5] = "GeForce",
					     [6] = "Titan",  [13] = "NVIDIA RTX", [14] = "NVIDIA"};
	unsigned brand = 0;

	if (!strcmp(r->field, ":architecture")) {
		text_puts(t, d->arch->architecture ? d->arch->architecture : "N/A");
	} else if (!strcmp(r->field, ":brand")) {
		nvmlDeviceGetBrand(d, &brand);
		text_puts(t, brand < ARRAY_LEN(brands) && brands[brand] ? brands[brand] : "N/A");
	} else if (!smi_value(t, r->field, d)) {
		text_fini(t);
		*t = (struct text){0};
		text_puts(t, "N/A");
	} else if (r->unit) {
		text_printf(t, "%s%s", *r->unit == 'x' ? "" : " ", r->unit);
	}
}

static void put_log_row(struct log_out *o, const struct log_row *r, struct nvml_device *d)
{
	struct text value = {0};

	if (!r->field) {
		if (r->title)
			log_open(o, r->level, r->title, r->element);
		return;
	}
	log_close(o, r->level);
	put_log_field(&value, r, d);
	log_line(o, r->level, r->title, r->element, value.at ? value.at : "");
	o->text->failed |= value.failed;
	text_fini(&value);
}

static void put_log_process(void *user, const struct smi_process *p)
{
	struct log_out *o = user;
	char pid[24], used[32];

	snprintf(pid, sizeof(pid), "%u", p->pid);
	snprintf(used, sizeof(used), "%llu MiB", (unsigned long long)p->bytes >> 20);
	if (o->xml)
		log_open(o, 2, "", "process_info");
	log_line(o, 2 + o->xml, "GPU instance ID", "gpu_instance_id", "N/A");
	log_line(o, 2 + o->xml, "Compute instance ID", "compute_instance_id", "N/A");
	log_line(o, 2 + o->xml, "Process ID", "pid", pid);
	log_line(o, 3, "Type", "type", "C");
	log_line(o, 3, "Name", "process_name", p->name);
	log_line(o, 3, "Used GPU Memory", "used_memory", used);
	log_close(o, 2);
}

static void put_log_processes(struct log_out *o, struct nvml_device *d)
{
	unsigned n = 0;

	nvmlDeviceGetComputeRunningProcesses_v3(d, &n, NULL);
	if (!n && !o->xml) {
		log_line(o, 1, "Processes", "processes", "None");
		return;
	}
	log_open(o, 1, "Processes", "processes");
	smi_processes(d, put_log_process, o);
	log_close(o, 1);
}

static void put_log_device(struct log_out *o, struct nvml_device *d)
{
	const char *section = NULL;
	char id[NVML_BUS_ID_BYTES];

	nvml_bus_id(d, id);
	if (o->xml)
		text_printf(o->text, "\t<gpu id=\"%s\">\n", id);
	else
		text_printf(o->text, "GPU %s\n", id);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct log_row *r = &rows[i];

		if (!r->field && (r->section || r->level == 1))
			section = r->section;
		else if (r->field && r->level == 1 &&
			 (!i || rows[i - 1].field || rows[i - 1].title))
			section = NULL;
		if (!o->sections || (section && is_in_list(o->sections, section)))
			put_log_row(o, r, d);
	}
	log_close(o, 1);
	if (!o->sections || is_in_list(o->sections, "PIDS"))
		put_log_processes(o, d);
	text_puts(o->text, o->xml ? "\t</gpu>\n" : "\n");
}

/* ---- the whole ---- */

static bool check_sections(const char *list)
{
	for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
		size_t n = strcspn(at, ",");
		bool known = n == 4 && !strncasecmp(at, "PIDS", 4);

		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			known |= rows[i].section && strlen(rows[i].section) == n &&
				 !strncasecmp(rows[i].section, at, n);
		if (!known) {
			printf("\"%.*s\" is not a valid display type.\n\n", (int)n, at);
			return false;
		}
	}
	return true;
}

static void put_log_head(struct log_out *o, u32 devices)
{
	struct text now = {0};
	char count[16];

	smi_time(&now, "%a %b %e %H:%M:%S %Y");
	snprintf(count, sizeof(count), "%u", devices);
	if (o->xml)
		text_puts(o->text, "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM "
				   "\"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n");
	else
		text_puts(o->text, "\n==============NVSMI LOG==============\n\n");
	log_line(o, 0, "Timestamp", "timestamp", now.at ? now.at : "");
	log_line(o, 0, "Driver Version", "driver_version", NVML_DRIVER);
	log_line(o, 0, "CUDA Version", "cuda_version", "13.0");
	text_puts(o->text, o->xml ? "" : "\n");
	log_line(o, 0, "Attached GPUs", "attached_gpus", count);
	text_fini(&now);
}

bool smi_log(struct text *t, const struct smi_devices *devices, const char *sections, bool xml)
{
	struct log_out o = {.text = t, .xml = xml, .sections = sections};

	if (sections && !check_sections(sections))
		return false;
	put_log_head(&o, nvml_count());
	for (u32 i = 0; i < devices->len; i++)
		put_log_device(&o, devices->at[i]);
	if (xml)
		text_puts(t, "</nvidia_smi_log>\n");
	return true;
}
