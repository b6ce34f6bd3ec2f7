/*
 * `ptxloom smi topo -m`: how devices are connected with each other.
 */
#include "src/tools/smi/smi.h"

#include <stdio.h>
#include <unistd.h>

/* X, NV# for # links, PHB for a way over the host bridge. */
static void put_connection(struct text *t, struct nvml_device *from, struct nvml_device *to)
{
	u32 links = arch_devices_links(nvml_list(), from->index, to->index);

	if (from == to)
		text_puts(t, "\t X ");
	else if (links)
		text_printf(t, "\tNV%u", links);
	else
		text_puts(t, "\tPHB");
}

void smi_topology(struct text *t, const struct smi_devices *devices)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);

	for (u32 i = 0; i < devices->len; i++)
		text_printf(t, "\tGPU%u", devices->at[i]->index);
	text_puts(t, "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n");
	for (u32 i = 0; i < devices->len; i++) {
		text_printf(t, "GPU%u", devices->at[i]->index);
		for (u32 k = 0; k < devices->len; k++)
			put_connection(t, devices->at[i], devices->at[k]);
		text_printf(t, processors > 1 ? "\t0-%ld\t0\t\tN/A\n" : "\t%ld\t0\t\tN/A\n",
			    processors - 1);
	}
	text_puts(
		t,
		"\nLegend:\n\n"
		"  X    = Self\n"
		"  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)\n"
		"  NV#  = Connection traversing a bonded set of # NVLinks\n");
}
