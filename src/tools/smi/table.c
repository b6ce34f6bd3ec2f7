/*
 * The table, and the list of devices.
 */
#include "src/tools/smi/smi.h"

#include <stdio.h>

void smi_list(struct text *t, const struct smi_devices *devices)
{
	for (u32 i = 0; i < devices->len; i++) {
		text_printf(t, "GPU %u: ", devices->at[i]->index);
		smi_value(t, "name", devices->at[i]);
		text_puts(t, " (UUID: ");
		smi_value(t, "uuid", devices->at[i]);
		text_puts(t, ")\n");
	}
}

/* A value as a string of its own, "N/A" if it is not known; with what follows it if it is. */
struct cell {
	char text[64];
};

static struct cell cell_of(struct nvml_device *d, const char *name, const char *after)
{
	struct text t = {0};
	struct cell c = {"N/A"};

	if (smi_value(&t, name, d) && t.at)
		snprintf(c.text, sizeof(c.text), "%s%s", t.at, after);
	text_fini(&t);
	return c;
}

#define RULE                                                                                       \
	"+-----------------------------------------+------------------------+-----------------"    \
	"-----+\n"
#define WIDE_RULE                                                                                    \
	"+-----------------------------------------------------------------------------------------" \
	"+\n"

static void put_device_row(struct text *t, struct nvml_device *d)
{
	struct cell on = cell_of(d, "persistence_mode", ""),
		    active = cell_of(d, "display_active", "");
	struct cell watts = cell_of(d, "power.limit", ""), mig = cell_of(d, "mig.mode.current", "");
	struct cell errors = cell_of(d, "ecc.errors.uncorrected.volatile.total", "");
	struct cell used = cell_of(d, "memory.used", "MiB"),
		    total = cell_of(d, "memory.total", "MiB");
	char *dot = strchr(watts.text, '.');

	if (dot)
		strcpy(dot, "W");
	text_printf(t, "| %3u  %-26.26s     %3s |   %s %3s | %20s |\n", d->index,
		    cell_of(d, "name", "").text, on.text[0] == 'E' ? "On " : "Off",
		    cell_of(d, "pci.bus_id", "").text, active.text[0] == 'E' ? "On " : "Off",
		    errors.text);
	text_printf(t, "| %-4s %4s  %4s       %9s / %5s |  %9s / %9s | %7s %12s |\n",
		    cell_of(d, "fan.speed", "%").text, cell_of(d, "temperature.gpu", "C").text,
		    cell_of(d, "pstate", "").text, cell_of(d, "power.draw", "W").text, watts.text,
		    used.text, total.text, cell_of(d, "utilization.gpu", "%").text,
		    cell_of(d, "compute_mode", "").text);
	text_printf(t,
		    "|                                         |                        | %20s |\n",
		    mig.text);
	text_puts(t, RULE);
}

struct process_row {
	struct text *text;
	u32 device;
	bool any;
};

static void put_process_row(void *user, const struct smi_process *p)
{
	struct process_row *r = user;
	enum { NAME_WIDTH = 36 };
	size_t n = strlen(p->name);
	bool is_long = n > NAME_WIDTH;
	char used[24];

	/* Of long names the end. */
	snprintf(used, sizeof(used), "%lluMiB", (unsigned long long)p->bytes >> 20);
	text_printf(r->text, "| %4u   N/A  N/A %15u      C   %s%-*s %9s |\n", r->device, p->pid,
		    is_long ? "..." : "", is_long ? NAME_WIDTH - 3 : NAME_WIDTH,
		    is_long ? p->name + n - (NAME_WIDTH - 3) : p->name, used);
	r->any = true;
}

void smi_table(struct text *t, const struct smi_devices *devices)
{
	struct process_row r = {.text = t};

	smi_time(t, "%a %b %e %H:%M:%S %Y       \n");
	text_puts(t, WIDE_RULE);
	text_printf(t, "| NVIDIA-SMI %-22s Driver Version: %-14s CUDA Version: %-9s|\n",
		    NVML_DRIVER, NVML_DRIVER, "13.0");
	text_puts(t, RULE);
	text_puts(
		t,
		"| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
		"| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
		"|                                         |                        |               MIG M. |\n"
		"|=========================================+========================+======================|\n");
	for (u32 i = 0; i < devices->len; i++)
		put_device_row(t, devices->at[i]);
	text_puts(t, "\n" WIDE_RULE);
	text_puts(
		t,
		"| Processes:                                                                              |\n"
		"|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
		"|        ID   ID                                                               Usage      |\n"
		"|=========================================================================================|\n");
	for (u32 i = 0; i < devices->len; i++) {
		r.device = devices->at[i]->index;
		smi_processes(devices->at[i], put_process_row, &r);
	}
	if (!r.any)
		text_puts(t,
			  "|  No running processes found                                         "
			  "                    |\n");
	text_puts(t, WIDE_RULE);
}
