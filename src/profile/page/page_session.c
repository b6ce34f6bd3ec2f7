/*
 * The session page: what was profiled, and on which devices.
 */
#include "src/profile/page/page.h"

static void session_line(const struct page *p, const char *name, const char *value,
			 struct text *out)
{
	if (!p->is_csv) {
		text_printf(out, "    %-40s %s\n", name, value);
		return;
	}
	page_csv_field(name, true, out);
	page_csv_field(value, false, out);
	text_puts(out, "\n");
}

static void session_number(const struct page *p, const char *name, u64 value, struct text *out)
{
	struct text t = {0};

	text_printf(&t, "%llu", (unsigned long long)value);
	session_line(p, name, t.at ? t.at : "", out);
	text_fini(&t);
}

/* Is launch i the first of its process, or of its device? */
static bool is_first_of(const struct page *p, size_t i, bool of_device)
{
	const struct profile_launch *l = p->launches.at[i];

	for (size_t k = 0; k < i; k++)
		if (of_device ? p->launches.at[k]->device == l->device
			      : p->launches.at[k]->process == l->process)
			return false;
	return true;
}

static u64 launches_of(const struct page *p, const struct profile_process *process)
{
	u64 n = 0;

	for (size_t i = 0; i < p->launches.len; i++)
		n += p->launches.at[i]->process == process;
	return n;
}

void page_session(const struct page *p, struct text *out)
{
	for (size_t i = 0; i < p->launches.len; i++) {
		const struct profile_launch *l = p->launches.at[i];

		if (!is_first_of(p, i, false))
			continue;
		text_puts(out, p->is_csv ? "\"Launch Settings\",\"\"\n" : "  Launch Settings\n");
		session_line(p, "Process Name", l->process->name, out);
		session_number(p, "Process ID", l->process->pid, out);
		session_number(p, "Profiled Launches", launches_of(p, l->process), out);
		session_line(p, "Ended By Itself", l->process->is_whole ? "yes" : "no", out);
		session_line(p, "Cache Model",
			     l->value[VALUE_has_caches] ? "yes" : "off (--cache-control off)", out);
	}
	for (size_t i = 0; i < p->launches.len; i++) {
		const struct profile_launch *l = p->launches.at[i];
		struct text cc = {0};

		if (!is_first_of(p, i, true))
			continue;
		text_puts(out,
			  p->is_csv ? "\"Device Attributes\",\"\"\n" : "  Device Attributes\n");
		session_number(p, "Device", l->device, out);
		session_line(p, "Device Name", l->device_name, out);
		text_printf(&cc, "%llu.%llu", (unsigned long long)l->value[VALUE_cc_major],
			    (unsigned long long)l->value[VALUE_cc_minor]);
		session_line(p, "Compute Capability", cc.at ? cc.at : "", out);
		session_number(p, "Multiprocessors", l->value[VALUE_sms], out);
		session_number(p, "Warps per Multiprocessor", l->value[VALUE_warps_max], out);
		session_number(p, "Blocks per Multiprocessor", l->value[VALUE_ctas_max], out);
		text_fini(&cc);
	}
}
