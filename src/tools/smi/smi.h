/*
 * `ptxloom smi`: what NVML says of the machine's devices, as nvidia-smi prints it.
 */
#ifndef PL_SMI_H
#define PL_SMI_H

#include "runtime/nvml/nvml.h"
#include "src/base/text.h"
#include "src/tools/tools.h"

/* Statuses that nvidia-smi has besides those of ptxloom: 2 is the same. */
enum smi_exit { SMI_NOT_SUPPORTED = 3, SMI_NO_DEVICE = 6 };

/* The devices that are asked for, in order. */
struct smi_devices {
	u32 len;
	struct nvml_device *at[ARCH_DEVICES_MAX];
};

/* ---- fields.c ---- */

struct smi_field {
	const char *name, *other, *unit, *meaning;
	/* Adds the value without its unit. False: it is not known. NULL: never. */
	bool (*get)(struct nvml_device *d, struct text *out);
};

/* The field of this name, or other name; NULL: there is none. */
const struct smi_field *smi_field_find(const char *name, size_t n);
/* The n-th field; NULL past the end. */
const struct smi_field *smi_field_nth(size_t n);
/* Add a field's value with its unit; `missing` if it is not known. */
void smi_field_put(struct text *t, const struct smi_field *f, struct nvml_device *d, bool unit,
		   const char *missing);
/* By its name, which there is; without a unit. False: it is not known. */
bool smi_value(struct text *t, const char *name, struct nvml_device *d);
/* Now, as a format of strftime has it. */
void smi_time(struct text *t, const char *format);

/* ---- processes ---- */

struct smi_process {
	u32 pid;
	u64 bytes;
	char name[256]; /* the first word of its command line; "[Not Found]" */
};

/* Called for each process of a device. */
void smi_processes(struct nvml_device *d, void (*each)(void *user, const struct smi_process *p),
		   void *user);

/* ---- query.c: --query-gpu and --query-compute-apps ---- */

struct smi_format {
	bool csv, no_header, no_units;
};

/* After `--format=`. False after a message. */
bool smi_format_read(const char *value, struct smi_format *out);
/* Both return an exit status; what is wrong has been said. */
int smi_query_devices(struct text *t, const struct smi_devices *devices, const char *fields,
		      const struct smi_format *format);
int smi_query_processes(struct text *t, const struct smi_devices *devices, const char *fields,
			const struct smi_format *format);
/* What --help-query-gpu prints, and --help-query-compute-apps. */
void smi_help_devices(struct text *t);
void smi_help_processes(struct text *t);

/* ---- table.c, log.c, topology.c ---- */

/* The table that nvidia-smi prints without options. */
void smi_table(struct text *t, const struct smi_devices *devices);
void smi_list(struct text *t, const struct smi_devices *devices);
/* -q; sections: names of -d with commas, NULL: all. False after a message. */
bool smi_log(struct text *t, const struct smi_devices *devices, const char *sections, bool xml);
void smi_topology(struct text *t, const struct smi_devices *devices);

#endif
