/*
 * What can be asked of a device by name.
 */
#include "src/tools/smi/smi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

void smi_time(struct text *t, const char *format)
{
	time_t now = time(NULL);
	struct tm parts;
	char text[64];

	if (localtime_r(&now, &parts) && strftime(text, sizeof(text), format, &parts))
		text_puts(t, text);
}

/* ---- values ---- */

static bool get_timestamp(struct nvml_device *d, struct text *out)
{
	struct timeval now;

	(void)d;
	gettimeofday(&now, NULL);
	smi_time(out, "%Y/%m/%d %H:%M:%S");
	text_printf(out, ".%03d", (int)(now.tv_usec / 1000));
	return true;
}

static bool get_driver(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_puts(out, NVML_DRIVER);
	return true;
}

static bool get_count(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_printf(out, "%u", nvml_count());
	return true;
}

static bool get_name(struct nvml_device *d, struct text *out)
{
	text_puts(out, d->arch->name ? d->arch->name : "");
	return NVML_KNOWN(d, name);
}

static bool get_uuid(struct nvml_device *d, struct text *out)
{
	char text[ARCH_UUID_TEXT];

	arch_uuid_text(d->uuid, text);
	text_puts(out, text);
	return true;
}

static bool get_bus_id(struct nvml_device *d, struct text *out)
{
	char text[NVML_BUS_ID_BYTES];

	nvml_bus_id(d, text);
	text_puts(out, text);
	return true;
}

static bool get_pci_zero(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_puts(out, "0x00");
	return true;
}

static bool get_pci_bus(struct nvml_device *d, struct text *out)
{
	text_printf(out, "0x%02X", arch_pci_bus(d->index));
	return true;
}

static bool get_pci_device_id(struct nvml_device *d, struct text *out)
{
	text_printf(out, "0x%08X", (u32)d->arch->pci_device_id);
	return NVML_KNOWN(d, pci_device_id);
}

static bool get_pci_subsystem_id(struct nvml_device *d, struct text *out)
{
	text_printf(out, "0x%08X", (u32)d->arch->pci_subsystem_id);
	return true;
}

static bool get_no(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_puts(out, "No");
	return true;
}

static bool get_none(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_puts(out, "None");
	return true;
}

static bool get_zero(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_puts(out, "0");
	return true;
}

static bool get_no_reason(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_puts(out, "0x0000000000000000");
	return true;
}

static bool get_not_active(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_puts(out, "Not Active");
	return true;
}

static bool get_pstate(struct nvml_device *d, struct text *out)
{
	unsigned n = 0;
	bool ok = !nvmlDeviceGetPerformanceState(d, &n);

	text_printf(out, "P%u", n);
	return ok;
}

static struct nvml_memory_v2 board_memory(struct nvml_device *d)
{
	struct nvml_memory_v2 m = {.version = NVML_VERSION_OF(m, 2)};

	nvmlDeviceGetMemoryInfo_v2(d, &m);
	return m;
}

static void put_mib(struct text *out, u64 bytes)
{
	text_printf(out, "%" PRIu64, bytes >> 20);
}

static bool get_memory_total(struct nvml_device *d, struct text *out)
{
	put_mib(out, board_memory(d).total);
	return true;
}

static bool get_memory_reserved(struct nvml_device *d, struct text *out)
{
	put_mib(out, board_memory(d).reserved);
	return true;
}

static bool get_memory_used(struct nvml_device *d, struct text *out)
{
	put_mib(out, board_memory(d).used);
	return true;
}

static bool get_memory_free(struct nvml_device *d, struct text *out)
{
	put_mib(out, board_memory(d).free);
	return true;
}

static bool get_compute_mode(struct nvml_device *d, struct text *out)
{
	(void)d;
	text_puts(out, "Default");
	return true;
}

static bool get_compute_cap(struct nvml_device *d, struct text *out)
{
	text_printf(out, "%d.%d", d->arch->cc_major, d->arch->cc_minor);
	return true;
}

static bool get_utilization(struct nvml_device *d, struct text *out)
{
	struct nvml_utilization u = {0};
	bool ok = !nvmlDeviceGetUtilizationRates(d, &u);

	text_printf(out, "%u", u.gpu);
	return ok;
}

static bool get_ecc_errors(struct nvml_device *d, struct text *out)
{
	u64 n = 0;
	bool ok = !nvmlDeviceGetTotalEccErrors(d, 1, 0, &n);

	text_printf(out, "%" PRIu64, n);
	return ok;
}

static bool get_power_limit(struct nvml_device *d, struct text *out)
{
	unsigned mw = 0;
	bool ok = !nvmlDeviceGetPowerManagementLimit(d, &mw);

	text_printf(out, "%u.%02u", mw / 1000, mw % 1000 / 10);
	return ok;
}

static bool get_clock(struct nvml_device *d, enum nvml_clock which, struct text *out)
{
	unsigned mhz = 0;
	bool ok = !nvmlDeviceGetMaxClockInfo(d, which, &mhz);

	text_printf(out, "%u", mhz);
	return ok;
}

static bool get_clock_sm(struct nvml_device *d, struct text *out)
{
	return get_clock(d, NVML_CLOCK_SM, out);
}

static bool get_clock_memory(struct nvml_device *d, struct text *out)
{
	return get_clock(d, NVML_CLOCK_MEMORY, out);
}

static void put_enabled(struct text *out, bool on)
{
	text_puts(out, on ? "Enabled" : "Disabled");
}

static bool get_mig(struct nvml_device *d, struct text *out)
{
	unsigned now = 0, later;
	bool ok = !nvmlDeviceGetMigMode(d, &now, &later);

	put_enabled(out, now);
	return ok;
}

/* Functions for what NVML answers with one number. */
#define NUMBER_FN(f)                                                                               \
	static bool get_number_##f(struct nvml_device *d, struct text *out)                        \
	{                                                                                          \
		unsigned n = 0;                                                                    \
		bool ok = !nvmlDeviceGet##f(d, &n);                                                \
                                                                                                   \
		text_printf(out, "%u", n);                                                         \
		return ok;                                                                         \
	}
#define ENABLED_FN(f)                                                                              \
	static bool get_enabled_##f(struct nvml_device *d, struct text *out)                       \
	{                                                                                          \
		unsigned n = 0;                                                                    \
		bool ok = !nvmlDeviceGet##f(d, &n);                                                \
                                                                                                   \
		put_enabled(out, n);                                                               \
		return ok;                                                                         \
	}
NUMBER_FN(CurrPcieLinkGeneration)
NUMBER_FN(MaxPcieLinkGeneration)
NUMBER_FN(GpuMaxPcieLinkGeneration)
NUMBER_FN(CurrPcieLinkWidth)
NUMBER_FN(MaxPcieLinkWidth)
NUMBER_FN(Index)
ENABLED_FN(DisplayMode)
ENABLED_FN(DisplayActive)
ENABLED_FN(PersistenceMode)
ENABLED_FN(AccountingMode)
ENABLED_FN(DefaultEccMode)
ENABLED_FN(PowerManagementMode)

/* ---- the table ---- */

#define GET(f) get_##f
#define NUMBER(f) get_number_##f
#define ENABLED(f) get_enabled_##f
#define NOTHING NULL
static const struct smi_field fields[] = {
#define SMI(name, other, unit, meaning, value) {name, other, unit, meaning, value},
#include "src/tools/smi/fields.def"
};

const struct smi_field *smi_field_nth(size_t n)
{
	return n < ARRAY_LEN(fields) ? &fields[n] : NULL;
}

static bool is_field_name(const char *name, const char *word, size_t n)
{
	return name && strlen(name) == n && !memcmp(name, word, n);
}

const struct smi_field *smi_field_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (is_field_name(fields[i].name, name, n) ||
		    is_field_name(fields[i].other, name, n))
			return &fields[i];
	return NULL;
}

void smi_field_put(struct text *t, const struct smi_field *f, struct nvml_device *d, bool unit,
		   const char *missing)
{
	struct text value = {0};

	if (!f->get || !f->get(d, &value))
		text_puts(t, missing);
	else
		text_printf(t, "%s%s%s", value.at ? value.at : "", unit && f->unit ? " " : "",
			    unit && f->unit ? f->unit : "");
	t->failed |= value.failed;
	text_fini(&value);
}

bool smi_value(struct text *t, const char *name, struct nvml_device *d)
{
	const struct smi_field *f = smi_field_find(name, strlen(name));

	return f && f->get && f->get(d, t);
}

/* ---- processes ---- */

void smi_processes(struct nvml_device *d, void (*each)(void *user, const struct smi_process *p),
		   void *user)
{
	enum { MOST = 1024 };
	struct nvml_process *list = calloc(MOST, sizeof(*list));
	unsigned n = list ? MOST : 0;

	nvmlDeviceGetComputeRunningProcesses_v3(d, &n, list);
	for (unsigned i = 0; list && i < n && i < MOST; i++) {
		struct smi_process p = {.pid = list[i].pid, .bytes = list[i].used};

		if (nvmlSystemGetProcessName(p.pid, p.name, sizeof(p.name)))
			strcpy(p.name, "[Not Found]");
		each(user, &p);
	}
	free(list);
}
