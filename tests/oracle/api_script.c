/*
 * Scripts of calls: reading them, and the kernels, variables and host functions that they may name.
 */
#include "tests/oracle/api_script.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void script_die(const char *what, const char *which)
{
	fprintf(stderr, "api_cross: %s: %s\n", what, which);
	exit(2);
}

/* ---- reading ---- */

static void *grown(void *p, size_t n, size_t size)
{
	/* Doubled whenever the number is a power of two. */
	if (n & (n - 1))
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		script_die("no memory", "");
	return p;
}

void script_read(struct script_list *list, const char *path)
{
	FILE *f = fopen(path, "r");
	char text[4096];
	struct script *s = NULL;

	if (!f)
		script_die("cannot be read", path);
	while (fgets(text, sizeof(text), f)) {
		text[strcspn(text, "\n")] = 0;
		if (text[0] == '#' || !text[0])
			continue;
		if (text[0] == '=') {
			list->section = grown(list->section, list->sections, sizeof(*s));
			s = &list->section[list->sections++];
			*s = (struct script){.name = strdup(text + 2)};
			continue;
		}
		if (!s)
			script_die("a line before the first section", text);
		s->line = grown(s->line, s->lines, sizeof(*s->line));
		s->line[s->lines++] = strdup(text);
	}
	fclose(f);
}

size_t script_split(char *text, char **token, size_t max)
{
	size_t n = 0;

	while (n < max) {
		while (*text == ' ')
			*text++ = 0;
		if (!*text)
			break;
		token[n++] = text;
		if (*text == '"') {
			text += 1 + strcspn(text + 1, "\"");
			if (!*text)
				script_die("a quote without its end", token[n - 1]);
			*text++ = 0;
		} else {
			text += strcspn(text, " ");
		}
	}
	return n;
}

const char *script_next_word(const char *text)
{
	text += strcspn(text, " ");
	return text + strspn(text, " ");
}

size_t script_show(FILE *out, const char *type, const char *at, bool is_next)
{
	const char *comma = is_next ? "," : "";
	uint64_t word;
	int32_t half;
	float f;
	const char *text;

	memcpy(&word, at, 8);
	memcpy(&half, at, 4);
	memcpy(&f, at, 4);
	memcpy(&text, at, sizeof(text));
	switch (type[0]) {
	case 'i':
		fprintf(out, "%s%d", comma, half);
		return 4;
	case 'f':
		fprintf(out, "%s%g", comma, (double)f);
		return 4;
	case 'h':
		fprintf(out, "%s%02x", comma, (unsigned char)*at);
		return 1;
	case 'p':
		if (type[1] == 's')
			fprintf(out, "%s\"%s\"", comma, text ? text : "(null)");
		else
			fprintf(out, "%s%s", comma, word ? "set" : "null");
		return 8;
	default:
		fprintf(out, "%s%lld", comma, (long long)word);
		return 8;
	}
}

/* ---- sizes ---- */

bool script_sizes(size_t sizes, size_t n, uint64_t *value)
{
	static const uint64_t alone[] = {
		0, 1, (uint64_t)1 << 31, (uint64_t)1 << 32, (uint64_t)1 << 60, UINT64_MAX};
	static const uint64_t pairs[][2] = {
		{(uint64_t)1 << 32, (uint64_t)1 << 32},
		{(uint64_t)1 << 30, ((uint64_t)1 << 34) + 1},
		{(uint64_t)1 << 60, ((uint64_t)1 << 60) + 1},
	};
	const size_t singles = sizes * (sizeof(alone) / sizeof(alone[0]));
	/* Where there are many, each pair is tried with one kind. */
	const size_t all = sizeof(pairs) / sizeof(pairs[0]), kinds = sizes > 5 ? 1 : all;

	for (size_t i = 0; i < sizes; i++)
		value[i] = SCRIPT_SIZE_KEPT;
	if (n < singles) {
		value[n * sizes / singles] = alone[n % (singles / sizes)];
		return true;
	}
	n -= singles;
	for (size_t i = 0; i < sizes; i++)
		for (size_t k = i + 1; k < sizes; k++, n -= kinds)
			if (n < kinds) {
				value[i] = pairs[kinds == 1 ? (i + k) % all : n][0];
				value[k] = pairs[kinds == 1 ? (i + k) % all : n][1];
				return true;
			}
	return false;
}

/* ---- functions ---- */

static const char *const runtime_names[] = {
#define RT(name, params, args, checks) #name,
#include "runtime/cudart/runtime.def"
#undef RT
	NULL};
static const char *const driver_names[] = {
#define DRV(name, params, args, checks) #name,
#include "runtime/cuda/driver.def"
#undef DRV
	NULL};

const char *script_function(const char *what, size_t i)
{
	return (what[0] == 'r' ? runtime_names : driver_names)[i];
}

/*
 * They return structures, are no functions, end what they are called in, or need libraries of
 * graphics.
 */
bool script_is_left_out(const char *name)
{
	static const char *const begins[] = {"cudaCreateChannelDesc",
					     "__cuda",
					     "cudbg",
					     "cudaGL",
					     "cuGL",
					     "cuEGL",
					     "cudaEGL",
					     "cuVDPAU",
					     "cudaVDPAU",
					     "cudaGraphicsGL",
					     "cuGraphicsGL",
					     "cudaGraphicsEGL",
					     "cuGraphicsEGL",
					     "cudaGraphicsVDPAU",
					     "cuGraphicsVDPAU",
					     "cudaEventCreateFromEGL",
					     "cuEventCreateFromEGL",
					     "cuCheckpoint",
					     "cuCoredump",
					     "cudaDeviceReset",
					     "cudaThreadExit",
					     "cuDevicePrimaryCtxReset",
					     "cuMulticast",
					     "cuCtxSetCurrent",
					     "cuCtxPop",
					     "cuCtxDetach",
					     "cuDevicePrimaryCtxRelease",
					     "cuStreamBeginCapture_ptsz",
					     "cuStreamBeginCapture_v2_ptsz",
					     "cudaStreamBeginCapture_ptsz",
					     "cudaGetExportTable",
					     "cuGetExportTable",
					     "cudaProfiler",
					     "cuProfiler",
					     "cudaSetDeviceFlags",
					     "cudaGetErrorName",
					     "cudaGetErrorString"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(begins[i], name, strlen(begins[i])))
			return true;
	/* The same again for other default streams. */
	return strstr(name, "_pts") || strstr(name, "_ptds");
}

/* ---- kernels ---- */

/*
 * nop: nothing. three: an int, an address, 12 bytes. trap: a fault. spin: waits until a word of the
 * host is not 0, for some seconds at most. bounded: 64 threads at most. dynamic, still: shared
 * memory.
 */
static const char ptx[] =
	".version 8.0\n.target sm_75\n.address_size 64\n"
	".visible .global .align 16 .b8 gvar[16];\n"
	".visible .const .align 16 .b8 cvar[64];\n"
	".visible .entry nop() { ret; }\n"
	".visible .entry three(.param .u32 a, .param .u64 b, .param .align 4 .b8 c[12]) {\n"
	"	.reg .u32 %r; .reg .u64 %d; ld.param.u32 %r, [a]; ld.param.u64 %d, [b];\n"
	"	st.global.u32 [%d], %r; ret; }\n"
	".visible .entry fault() { trap; ret; }\n"
	".visible .entry spin(.param .u64 p) {\n"
	"	.reg .u32 %r; .reg .u64 %d, %t, %e; .reg .pred %q; ld.param.u64 %d, [p];\n"
	"	mov.u64 %e, %globaltimer; add.u64 %e, %e, 4000000000;\n"
	"L:	ld.volatile.u32 %r, [%d]; setp.ne.u32 %q, %r, 0; @%q ret;\n"
	"	mov.u64 %t, %globaltimer; setp.lt.u64 %q, %t, %e; @%q bra L; ret; }\n"
	".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n"
	".extern .shared .align 4 .b8 dyn[];\n"
	".visible .entry dynamic() { .reg .u32 %r; mov.u32 %r, dyn; st.shared.u32 [%r], %r; ret; }\n"
	".visible .entry still() { .reg .u32 %r; .shared .align 4 .b8 s[1000]; mov.u32 %r, s;\n"
	"	st.volatile.shared.u32 [%r], %r; ret; }\n";

static const char old_ptx[] =
	".version 8.0\n.target sm_75\n.address_size 64\n"
	".visible .global .align 4 .b8 one[8];\n.visible .entry first() { ret; }\n"
	".visible .entry second() { ret; }\n";

/* What a program gives the runtime for its kernels and variables are addresses of its own. */
static char stubs[16][16];
static const char *const kernels[] = {"nop",     "three",   "fault", "spin",
				      "bounded", "dynamic", "still"};
static char host_gvar[16], host_cvar[64];
static _Alignas(4096) char host[1 << 20];

static struct {
	uint32_t magic;
	uint16_t version, header;
	uint64_t size;
	uint16_t kind, entry_version;
	uint32_t entry_header;
	uint64_t payload;
	uint32_t compressed, options;
	uint16_t minor, major;
	uint32_t arch, name_at, name_len;
	uint64_t flags, reserved, raw;
	uint32_t options_at, options_len;
	uint64_t no_options;
	char text[(sizeof(ptx) + 7) & ~(size_t)7];
} fatbin = {.magic = 0xba55ed50,
	    .version = 1,
	    .header = 16,
	    .size = 80 + sizeof(fatbin.text),
	    .kind = 1,
	    .entry_version = 0x101,
	    .entry_header = 80,
	    .payload = sizeof(fatbin.text),
	    .options = 64,
	    .minor = 0,
	    .major = 8,
	    .arch = 75,
	    .flags = 0x11,
	    .options_at = 72};

static struct {
	uint32_t magic, version;
	const void *fatbin;
	void *prelinked;
} wrapper = {0x466243b1, 1, &fatbin, NULL};

/* Names are passed twice, once as if they were not constant. */
static char *name_of(const char *name)
{
	return (char *)(uintptr_t)name;
}

void script_register(void *cudart)
{
	void **(*begin)(void *);
	void (*function)(void **, const char *, char *, const char *, int, void *, void *, void *,
			 void *, int *);
	void (*var)(void **, char *, char *, const char *, int, size_t, int, int);
	void (*end)(void **);
	void **handle;

	*(void **)&begin = dlsym(cudart, "__cudaRegisterFatBinary");
	*(void **)&function = dlsym(cudart, "__cudaRegisterFunction");
	*(void **)&var = dlsym(cudart, "__cudaRegisterVar");
	*(void **)&end = dlsym(cudart, "__cudaRegisterFatBinaryEnd");
	memcpy(fatbin.text, ptx, sizeof(ptx));
	handle = begin(&wrapper);
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		function(handle, stubs[i], name_of(kernels[i]), kernels[i], -1, NULL, NULL, NULL,
			 NULL, NULL);
	var(handle, host_gvar, name_of("gvar"), "gvar", 0, sizeof(host_gvar), 0, 0);
	var(handle, host_cvar, name_of("cvar"), "cvar", 0, sizeof(host_cvar), 1, 0);
	end(handle);
}

/* ---- host functions ---- */

static void host_nothing(void *user)
{
	(void)user;
}

static void stream_nothing(void *stream, int status, void *user)
{
	(void)stream;
	(void)status;
	(void)user;
}

static size_t block_shared(int threads)
{
	return (size_t)threads * 16;
}

const void *script_builtin(const char *name)
{
	static void (*const hosts[])(void *) = {host_nothing};
	static void (*const streams[])(void *, int, void *) = {stream_nothing};
	static size_t (*const shares[])(int) = {block_shared};
	const void *p = NULL;

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		if (!strcmp(kernels[i], name))
			return stubs[i];
	if (!strcmp(name, "ptx"))
		return ptx;
	if (!strcmp(name, "small"))
		return old_ptx;
	if (!strcmp(name, "fatbin"))
		return &fatbin;
	if (!strcmp(name, "wrapper"))
		return &wrapper;
	if (!strcmp(name, "gvar"))
		return host_gvar;
	if (!strcmp(name, "cvar"))
		return host_cvar;
	if (!strcmp(name, "host"))
		return host;
	if (!strcmp(name, "none"))
		return stubs[15];
	if (!strcmp(name, "fn"))
		memcpy(&p, &hosts[0], sizeof(p));
	else if (!strcmp(name, "callback"))
		memcpy(&p, &streams[0], sizeof(p));
	else if (!strcmp(name, "shares"))
		memcpy(&p, &shares[0], sizeof(p));
	else
		script_die("no such name", name);
	return p;
}
