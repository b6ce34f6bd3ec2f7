/*
 * The compilations of one source: device code to PTX, PTX into a fat binary, host code around it.
 */
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/dev/image/image.h"
#include "src/tools/cc/build.h"
#include "src/tools/toolkit/device_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Options that both compilations of CUDA share, up to the user's. */
static void common(const struct cc *cc, struct cc_words *c, bool cuda)
{
	static const char *const words[] = {
		"--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-x", "cuda", "-fdeclspec",
		"-Wno-unknown-cuda-version"};
	/* Errors of clang that nvcc with gcc does not report. */
	static const char *const lenient[] = {"-Wno-register", "-Wno-c++11-narrowing"};

	cc_add(c, cc->clang);
	for (size_t i = 0; i < ARRAY_LEN(lenient); i++)
		cc_add(c, lenient[i]);
	if (cuda) {
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			cc_add(c, words[i]);
		cc_add(c, cc->arch);
		cc_add(c, "-include"); /* as nvcc does */
		cc_add(c, "cuda_runtime.h");
		if (!cc->o.has_std)
			cc_add(c, "-std=gnu++17");
	}
	cc_add(c, "-isystem");
	cc_add(c, cc->include);
	cc_add_all(c, &cc->o.both);
}

/* What tells this compilation of a source from others of it: the result's name and the options. */
static void cc_seed(const struct cc *cc, const char *source, struct text *seed)
{
	const struct cc_words *lists[] = {&cc->o.both, &cc->o.device};
	char *path = realpath(source, NULL);

	text_printf(seed, "%s;%s", path ? path : source, cc->o.output ? cc->o.output : "");
	for (size_t l = 0; l < ARRAY_LEN(lists); l++)
		for (u32 i = 0; i < lists[l]->len; i++)
			text_printf(seed, ";%s", lists[l]->at[i]);
	free(path);
}

/* Both runs of clang append the same to the names of static variables and kernels. */
#define CLANG_WITH_CUID 13
/* From this one on the host reaches variables of unnamed namespaces. */
#define CLANG_WITH_UNNAMED 15
static void add_relocatable(const struct cc *cc, struct cc_words *c, const char *source,
			    struct text *cuid)
{
	struct text seed = {0};

	if (!cc->o.relocatable)
		return;
	cc_add(c, "-fgpu-rdc");
	if (cc->version < CLANG_WITH_CUID)
		return;
	cc_seed(cc, source, &seed);
	text_printf(cuid, "-cuid=%016llx", (unsigned long long)hash_bytes(seed.at, seed.len));
	text_fini(&seed);
	if (!cuid->at)
		abort();
	cc_add(c, cuid->at);
	cc_add(c, "-Xclang");
	cc_add(c, cuid->at);
}

char *cc_temp_name(const struct cc *cc, u32 i, const char *end, char out[CC_PATH_MAX])
{
	snprintf(out, CC_PATH_MAX, "%s/%u.%s", cc->temp, i, end);
	return out;
}

/* The newest PTX that clang writes. */
static void add_ptx_version(const struct cc *cc, struct cc_words *c)
{
	cc_add(c, "-Xclang");
	cc_add(c, "-target-feature");
	cc_add(c, "-Xclang");
	cc_add(c, cc->ptx);
}

/* What is done with the PTX of relocatable code. */
static int mend_device(const struct cc *cc, const char *source, const char *ptx)
{
	struct text seed = {0};
	int status;

	if (!cc->o.relocatable || cc->o.dry)
		return 0;
	cc_seed(cc, source, &seed);
	status = seed.at && device_link_mend(ptx, seed.at) ? 0 : TOOL_USAGE;
	text_fini(&seed);
	return status;
}

/* code: where clang's intermediate code goes, instead of the PTX; or NULL. */
int cc_device_pass(const struct cc *cc, const char *source, const char *code, const char *ptx)
{
	struct cc_words c = {0};
	struct text cuid = {0};
	int status;

	common(cc, &c, true);
	cc_add(&c, "--cuda-device-only");
	add_relocatable(cc, &c, source, &cuid);
	cc_add(&c, "-w"); /* the host's compilation warns about the same text */
	cc_add(&c, cc->o.debug_device ? "-O0" : "-O3");
	/* All types: there is no host's debug information that would have the others. */
	if (cc->o.debug_device) {
		cc_add(&c, "-g");
		cc_add(&c, "-fstandalone-debug");
	}
	add_ptx_version(cc, &c);
	cc_add_all(&c, &cc->o.device);
	cc_add(&c, cc->o.stop == CC_PREPROCESS ? "-E" : "-S");
	cc_add(&c, source);
	if (code) {
		cc_add(&c, "-emit-llvm");
		cc_add(&c, "-Xclang");
		cc_add(&c, "-disable-llvm-passes");
	}
	if (code || ptx) {
		cc_add(&c, "-o");
		cc_add(&c, code ? code : ptx);
	}
	status = cc_compile(cc, &c);
	text_fini(&cuid);
	return status || code || !ptx || cc->o.stop == CC_PREPROCESS ? status
								     : mend_device(cc, source, ptx);
}

/*
 * The same by way of intermediate code in which variables of unnamed namespaces can be seen by the
 * host.
 */
static int device_pass_named(const struct cc *cc, u32 i, const char *ptx)
{
	static const char *const words[] = {"-w",  "-x", "ir", "--target=nvptx64-nvidia-cuda",
					    "-O3", "-S"};
	const char *source = cc->o.files[i].path;
	char code[CC_PATH_MAX], arch[16];
	struct cc_words c = {0};
	int status = cc_device_pass(cc, source, cc_temp_name(cc, i, "ll", code), NULL);

	if (status)
		return status;
	if (!device_link_name_unnamed(code))
		return TOOL_USAGE;
	snprintf(arch, sizeof(arch), "sm_%u", cc->sm);
	cc_add(&c, cc->clang);
	for (size_t k = 0; k < ARRAY_LEN(words); k++)
		cc_add(&c, words[k]);
	cc_add(&c, "-Xclang");
	cc_add(&c, "-target-cpu");
	cc_add(&c, "-Xclang");
	cc_add(&c, arch);
	add_ptx_version(cc, &c);
	for (u32 k = 0; k + 1 < cc->o.device.len; k++)
		if (!strcmp(cc->o.device.at[k], "-mllvm")) {
			cc_add(&c, "-mllvm");
			cc_add(&c, cc->o.device.at[++k]);
		}
	cc_add(&c, code);
	cc_add(&c, "-o");
	cc_add(&c, ptx);
	status = cc_compile(cc, &c);
	return status ? status : mend_device(cc, source, ptx);
}

/*
 * Compiles for the host; fatbin: the device code, or NULL for a file without. stage: "-c", "-E" ...
 */
int cc_host_pass(const struct cc *cc, const char *source, const char *fatbin, const char *stage,
		 const char *out)
{
	bool cuda = fatbin != NULL;
	struct cc_words c = {0};
	struct text cuid = {0};
	int status;

	common(cc, &c, cuda);
	if (cuda) {
		cc_add(&c, "--cuda-host-only");
		add_relocatable(cc, &c, source, &cuid);
		cc_add(&c, "-Xclang");
		cc_add(&c, "-target-sdk-version=11.5");
	}
	if (cuda && *fatbin) {
		cc_add(&c, "-Xclang");
		cc_add(&c, "-fcuda-include-gpubinary");
		cc_add(&c, "-Xclang");
		cc_add(&c, fatbin);
	}
	cc_add(&c, "-O2");
	cc_add_all(&c, &cc->o.host);
	cc_add(&c, stage);
	cc_add(&c, source);
	if (out) {
		cc_add(&c, "-o");
		cc_add(&c, out);
	}
	status = cc_compile(cc, &c);
	text_fini(&cuid);
	return status;
}

/* One container with the PTX, as the host pass embeds it. */
static bool write_fatbin(const struct cc *cc, const char *ptx, const char *fatbin)
{
	struct image_spec spec = {.kind = IMAGE_PTX, .codec = IMAGE_ZSTD, .isa_major = 7};
	struct text out = {0};
	struct file f;
	FILE *to;
	bool ok;

	if (cc->o.dry)
		return true;
	if (!image_target_parse(strchr(cc->arch, '=') + 1, &spec.target)) {
		fprintf(stderr, "ptxloom cc: error: '%s' is not a target\n", cc->arch);
		return false;
	}
	if (!file_open(&f, ptx)) {
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", ptx, strerror(errno));
		return false;
	}
	spec.data = f.data;
	spec.size = f.size;
	ok = image_write(&out, &spec, 1);
	file_close(&f);
	to = ok ? fopen(fatbin, "wb") : NULL;
	ok = to && fwrite(out.at, 1, out.len, to) == out.len;
	ok = to && !fclose(to) && ok;
	if (!ok)
		fprintf(stderr, "ptxloom cc: error: %s: %s\n", fatbin, strerror(errno));
	text_fini(&out);
	return ok;
}

/* Device code, and host code around it. */
int cc_compile_cuda(const struct cc *cc, u32 i, const char *out)
{
	const char *source = cc->o.files[i].path;
	char ptx[CC_PATH_MAX], fatbin[CC_PATH_MAX];
	struct text seed = {0};
	int status = cc_device_pass(cc, source, NULL, cc_temp_name(cc, i, "ptx", ptx));

	cc_temp_name(cc, i, "fatbin", fatbin);
	if (!status)
		status = write_fatbin(cc, ptx, fatbin) ? cc_host_pass(cc, source, fatbin, "-c", out)
						       : TOOL_USAGE;
	if (status || cc->o.dry)
		return status;
	if (cc->version < CLANG_WITH_UNNAMED && !cc->o.debug_device &&
	    device_link_has_unnamed(out)) {
		/* Another name: ccache takes a command of the same words for the same. */
		cc_temp_name(cc, i, "named.fatbin", fatbin);
		status = device_pass_named(cc, i, ptx);
		if (!status)
			status = write_fatbin(cc, ptx, fatbin)
					 ? cc_host_pass(cc, source, fatbin, "-c", out)
					 : TOOL_USAGE;
	}
	if (!status && cc->o.relocatable) {
		cc_seed(cc, source, &seed);
		status = device_link_finish_object(out, ptx, seed.at) ? 0 : TOOL_USAGE;
		text_fini(&seed);
	}
	return status;
}
