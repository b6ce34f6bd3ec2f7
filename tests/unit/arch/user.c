/* src/arch: user profiles and lists of devices, and what is said about wrong ones. */
#include "src/arch/arch.h"
#include "src/base/diag.h"
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

struct said {
	struct diag d;
	struct text t;
};

static struct arch *parse(struct said *s, const char *text)
{
	struct diag_source src = {"dir/my.profile", text, strlen(text)};
	struct arch *a;

	diag_init(&s->d, diag_collect, &s->t);
	a = arch_parse(&src, &s->d);
	s->d.seen_source = NULL;
	return a;
}

static void done(struct said *s)
{
	diag_fini(&s->d);
	text_fini(&s->t);
}

/* The text is refused and the message starts with `want`. */
static bool refused(const char *text, const char *want)
{
	struct said s = {0};
	struct arch *a = parse(&s, text);
	bool ok = !a && s.t.at && !strncmp(s.t.at, want, strlen(want));

	if (!ok)
		printf("# %s, said: %s\n", a ? "accepted" : "refused", s.t.at ? s.t.at : "nothing");
	arch_free(a);
	done(&s);
	return ok;
}

static void test_good(void)
{
	struct said s = {0};
	struct arch *a = parse(&s, "# comment\n\n  inherit = V100\r\n"
				   "name = \"My # GPU\"   # box\n"
				   "sms=64\n"
				   "memory_bytes = 0x100000000 # \n"
				   "has_its = false  # as an experiment\n"
				   "smem_carveouts_kib = 0, 8 96\n"
				   "mma_f16_shapes = m8n8k4,m16n8k8\n"
				   "l2_bytes = unknown # never measured\n"
				   "aliases = ");
	struct text t = {0};

	if (!CHECK(a != NULL)) {
		printf("# %s\n", s.t.at ? s.t.at : "");
		done(&s);
		return;
	}
	CHECK_STR(a->id, "my");
	CHECK_STR(a->parent, "gv100");
	CHECK_STR(a->name, "My # GPU");
	CHECK_STR(arch_source(a, ARCH_FIELD_name), "box");
	CHECK(a->sms == 64 && a->memory_bytes == (u64)4 << 30 && !a->has_its);
	CHECK_STR(arch_source(a, ARCH_FIELD_sms), "dir/my.profile:5");
	CHECK_STR(arch_source(a, ARCH_FIELD_memory_bytes), "dir/my.profile:6");
	CHECK_STR(arch_source(a, ARCH_FIELD_has_its), "as an experiment");
	arch_format(&t, a, ARCH_FIELD_smem_carveouts_kib);
	text_puts(&t, "|");
	arch_format(&t, a, ARCH_FIELD_mma_f16_shapes);
	CHECK_STR(t.at, "0 8 96|m8n8k4 m16n8k8");
	CHECK(!arch_is_known(a, ARCH_FIELD_l2_bytes) && a->l2_bytes == 0);
	/* The parent is untouched, and what is not mentioned comes from it. */
	CHECK(arch_find("v100")->sms == 80 && a->warps_per_sm_max == 64);
	CHECK(a->source[ARCH_FIELD_warps_per_sm_max] ==
	      arch_find("v100")->source[ARCH_FIELD_warps_per_sm_max]);
	text_fini(&t);
	arch_free(a);
	done(&s);

	s = (struct said){0};
	a = parse(&s, "inherit = base\nsms = 1\n");
	CHECK(a && a->threads_per_cta_max == 1024 && !arch_is_known(a, ARCH_FIELD_memory_bytes));
	arch_free(a);
	done(&s);
	s = (struct said){0};
	a = parse(&s, "");
	CHECK(a && !arch_is_known(a, ARCH_FIELD_warp_size) && !a->parent);
	arch_free(a);
	done(&s);
}

static void test_bad(void)
{
	CHECK(refused(
		"inherit = a100\nsmem = 1\n",
		"dir/my.profile:2:1: error: unknown key 'smem'\n     2 | smem = 1\n       | ^~~~\n"
		"hint: `ptxloom devices a100` lists all keys\n"));
	CHECK(refused("inherit = a1000\n", "dir/my.profile:1:11: error: no profile 'a1000'"));
	CHECK(refused("inherit = a100\ninherit = v100\n",
		      "dir/my.profile:2:1: error: inherit must come first, and once"));
	CHECK(refused("sms = 3\ninherit = a100\n",
		      "dir/my.profile:2:1: error: inherit must come first, and once"));
	CHECK(refused("sms 3\n", "dir/my.profile:1:1: error: expected key = value"));
	CHECK(refused("sms = three\n", "dir/my.profile:1:7: error: sms needs a whole number"));
	CHECK(refused("sms = 3 4\n", "dir/my.profile:1:7: error: sms needs a whole number"));
	CHECK(refused("sms = 1.5\n", "dir/my.profile:1:7: error: sms needs a whole number"));
	CHECK(refused("sms =\n", "dir/my.profile:1:6: error: sms needs a whole number"));
	CHECK(refused("sms = 99999999999999999999\n",
		      "dir/my.profile:1:7: error: sms needs a whole number"));
	CHECK(refused("sms = 0\n", "dir/my.profile:1:7: error: sms is 0, outside 1..1024"));
	CHECK(refused(
		"smem_per_sm_bytes = 123\n",
		"dir/my.profile:1:21: error: smem_per_sm_bytes is 123, outside 1024..16777216"));
	CHECK(refused("sms = 1\nsms = 2\n", "dir/my.profile:2:1: error: sms is set twice"));
	CHECK(refused("has_its = maybe\n",
		      "dir/my.profile:1:11: error: has_its needs true or false"));
	CHECK(refused("name =\n", "dir/my.profile:1:7: error: name needs 1 to 255 characters"));
	CHECK(refused("mma_f16_shapes = m16n8k8 16x8x8\n",
		      "dir/my.profile:1:26: error: mma_f16_shapes needs sizes such as m16n8k8"));
	CHECK(refused("smem_carveouts_kib = 8 x\n",
		      "dir/my.profile:1:24: error: smem_carveouts_kib needs whole numbers"));
	CHECK(refused("smem_carveouts_kib = 8 4\n",
		      "dir/my.profile: error: smem_carveouts_kib does not rise"));
	/* Values that contradict each other, though each is in range. */
	CHECK(refused("inherit = a100\nsmem_per_sm_bytes = 65536\n",
		      "dir/my.profile: error: the last of smem_carveouts_kib, 164 KiB"));
	CHECK(refused(
		"inherit = a100\nsmem_carveouts_kib = 64\nsmem_per_sm_bytes = 65536\n",
		"dir/my.profile: error: smem_per_cta_optin_bytes, 166912, is larger than smem_per_sm_bytes, 65536"));
	CHECK(refused(
		"inherit = a100\nwarps_per_sm_max = 32\n",
		"dir/my.profile: error: threads_per_sm_max, 2048, is not warps_per_sm_max x warp_size, 1024"));
	CHECK(refused("inherit = a100\nsm = 86\n",
		      "dir/my.profile: error: sm, 86, is not compute capability 8.0"));
	CHECK(refused("inherit = a100\nnvlink_topology = Ring\n",
		      "dir/my.profile: error: nvlink_topology 'Ring'"));
	CHECK(refused("inherit = v100\nnvlink_mesh = 0 1 1 0\n",
		      "dir/my.profile: error: nvlink_mesh has 4 numbers"));
	CHECK(refused("inherit = v100\nnvlink_links = 4\n",
		      "dir/my.profile: error: nvlink_mesh: device 0 has 6 links"));
}

static void test_load(void)
{
	struct said s = {0};

	diag_init(&s.d, diag_collect, &s.t);
	CHECK(!arch_load("/nonexistent/x.profile", &s.d));
	CHECK_STR(
		s.t.at,
		"/nonexistent/x.profile: error: cannot read the profile: No such file or directory\n");
	CHECK(!arch_load("/", &s.d) && s.d.errors == 2);
	CHECK(arch_name_is_path("./x", 3) && arch_name_is_path("x.profile", 9));
	CHECK(!arch_name_is_path(".profile", 8) && !arch_name_is_path("a100", 4) &&
	      !arch_name_is_path("x.profiles", 10));
	done(&s);
}

/* ---- Lists ---- */

/* The ids of the list, "error" with a note when it is refused. */
static bool devices_are(const char *spec, const char *want)
{
	struct arch_devices list;
	struct text t = {0}, out = {0};
	struct diag d;
	bool ok;

	diag_init(&d, diag_collect, &out);
	if (arch_devices_parse(&list, spec, &d))
		for (u32 i = 0; i < list.len; i++)
			text_printf(&t, "%s%s", i ? " " : "", list.at[i]->id);
	else
		text_puts(&t, out.at ? out.at : "refused without a message");
	ok = t.at &&
	     (*want && want[strlen(want) - 1] == '*' ? !strncmp(t.at, want, strlen(want) - 1)
						     : !strcmp(t.at, want));
	if (!ok)
		printf("# \"%s\": %s\n", spec, t.at);
	arch_devices_fini(&list);
	diag_fini(&d);
	text_fini(&t);
	text_fini(&out);
	return ok;
}

static void test_lists(void)
{
	struct arch_devices list;
	struct diag d;

	CHECK(devices_are("", "ga100") && devices_are("  ", "ga100"));
	CHECK(devices_are("a100", "ga100") &&
	      devices_are("8xv100", "gv100 gv100 gv100 gv100 gv100 gv100 gv100 gv100"));
	CHECK(devices_are("a100,v100", "ga100 gv100") &&
	      devices_are(" 2 x h100 , T4 ", "h100 h100 tu104"));
	CHECK(devices_are("1xa100", "ga100") && devices_are("2Xgh100", "gh100 gh100"));
	CHECK(devices_are("a10", "device:1:1: error: no device 'a10'*"));
	CHECK(devices_are("a100,v10", "device:1:6: error: no device 'v10'*"));
	CHECK(devices_are("a100,,v100", "device:1:6: error: a device name is missing*"));
	CHECK(devices_are("a100,", "device:1:6: error: a device name is missing*"));
	CHECK(devices_are(",", "device:1:1: error: a device name is missing*"));
	CHECK(devices_are("8x", "device:1:3: error: a device name is missing*"));
	CHECK(devices_are("8", "device:1:1: error: no device '8'*"));
	CHECK(devices_are("x100", "device:1:1: error: no device 'x100'*"));
	CHECK(devices_are("0xa100", "device:1:1: error: the count is 0*"));
	CHECK(devices_are("-1xa100", "device:1:1: error: no device '-1xa100'*"));
	CHECK(devices_are("65xa100", "device:1:1: error: more than 64 devices*"));
	CHECK(devices_are("60xa100,5xv100", "device:1:9: error: more than 64 devices*"));
	CHECK(devices_are("99999999999999999999999xa100",
			  "device:1:1: error: more than 64 devices*"));
	CHECK(devices_are("./none.profile", "./none.profile: error: cannot read the profile*"));

	diag_init(&d, NULL, NULL);
	CHECK(arch_devices_parse(&list, "64xa100", &d) && list.len == 64);
	arch_devices_fini(&list);
	CHECK(list.len == 0);
	diag_fini(&d);
}

static void test_list_of_files(void)
{
	char path[] = "/tmp/arch_user_XXXXXX", spec[64];
	static const char text[] = "inherit = t4\nname = Mine\n";
	int fd = mkstemp(path);
	struct arch_devices list;
	struct diag d;

	CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1);
	close(fd);
	snprintf(spec, sizeof(spec), "2x%s,a100,%s", path, path);
	diag_init(&d, NULL, NULL);
	CHECK(arch_devices_parse(&list, spec, &d));
	CHECK(list.len == 4 && list.owned_len == 2 && list.at[0] == list.at[1] &&
	      list.at[2] == arch_find("a100"));
	CHECK(list.len == 4 && !strcmp(list.at[0]->name, "Mine") && list.at[3]->sms == 40);
	arch_devices_fini(&list);
	diag_fini(&d);
	unlink(path);
}

static u32 links(const char *spec, u32 i, u32 j)
{
	struct arch_devices list;
	struct diag d;
	u32 n = 999;

	diag_init(&d, NULL, NULL);
	if (arch_devices_parse(&list, spec, &d))
		n = arch_devices_links(&list, i, j);
	arch_devices_fini(&list);
	diag_fini(&d);
	return n;
}

static void test_links(void)
{
	/* The ring 0 1 2 3 7 6 5 4 of the Volta talk, "Mapping 1D Ring Exchange to DGX-1". */
	static const u32 ring[] = {0, 1, 2, 3, 7, 6, 5, 4, 0};
	u32 sum = 0;

	for (u32 i = 0; i + 1 < ARRAY_LEN(ring); i++) {
		CHECK(links("8xv100", ring[i], ring[i + 1]) > 0);
		CHECK(links("8xp100", ring[i], ring[i + 1]) == 1);
	}
	for (u32 j = 0; j < 8; j++)
		sum += links("8xv100", 5, j);
	CHECK_EQ(sum, 6);
	CHECK_EQ(links("8xv100", 0, 7), 0);
	CHECK_EQ(links("2xh200", 0, 1), 18);
	CHECK_EQ(links("2xa100", 1, 0), 12);
	CHECK_EQ(links("2xa100", 0, 0), 0);
	CHECK_EQ(links("a100,v100", 0, 1), 0);
	CHECK_EQ(links("4xa40", 2, 3), 4);
	CHECK_EQ(links("4xa40", 1, 2), 0);
	CHECK_EQ(links("2xt4", 0, 1), 0);
	CHECK_EQ(links("2xa100", 0, 5), 0);
}

int main(void)
{
	test_good();
	test_bad();
	test_load();
	test_lists();
	test_list_of_files();
	test_links();
	return check_done();
}
