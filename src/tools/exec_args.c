/*
 * The command line of `ptxloom exec`: parameters of the kernel, buffers, what is written
 * afterwards.
 */
#include "src/tools/check_options.h"
#include "src/tools/exec_job.h"

#include <getopt.h>
#include <stdlib.h>

static bool parse_extents(const char *s, u32 *out)
{
	char *end;

	for (u32 i = 0; i < 3; i++)
		out[i] = 1;
	for (u32 i = 0; i < 3; i++) {
		u64 v = strtoull(s, &end, 0);

		if (end == s || *s == '-' || v > UINT32_MAX)
			return false;
		out[i] = (u32)v;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
		s = end + 1;
	}
	return false;
}

static int bad_argument(struct exec_job *j, const char *option, struct text *why)
{
	int status = tool_usage(j->self, "%s: %s", option, why->at ? why->at : "no memory left");

	text_fini(why);
	return status;
}

const struct exec_input *exec_job_buffer(const struct exec_job *j, const char *name)
{
	for (size_t i = 0; i < j->inputs.len; i++)
		if (j->inputs.at[i].name && !strcmp(j->inputs.at[i].name, name))
			return &j->inputs.at[i];
	return NULL;
}

/* [NAME:]TYPE[[N]][=INIT] */
static int add_input(struct exec_job *j, const char *arg, bool buffer)
{
	struct exec_input in = {.option = arg};
	const char *s = arg, *colon = strchr(arg, ':');
	struct text why = {0};

	if (buffer && (!colon || colon == arg)) {
		text_puts(&why, "--buffer takes NAME:TYPE[N]=INIT");
		return bad_argument(j, arg, &why);
	}
	if (buffer) {
		in.name = strndup(arg, (size_t)(colon - arg));
		s = colon + 1;
		if (in.name && exec_job_buffer(j, in.name)) {
			text_puts(&why, "there is a buffer of this name already");
			free(in.name);
			return bad_argument(j, arg, &why);
		}
	}
	if (data_parse_type(&s, &in.data, &why)) {
		if (buffer && !in.data.array)
			in.data.count = UINT64_MAX;
		if (*s && *s != '=')
			text_printf(&why, "unexpected '%s' after the type", s);
		else if (!buffer && !*s)
			text_puts(&why, "--arg takes TYPE=VALUE");
		else if (data_fill(&in.data, *s ? s + 1 : NULL, &why) && VEC_PUSH(&j->inputs, in))
			return TOOL_OK;
	}
	free(in.name);
	data_fini(&in.data);
	return bad_argument(j, arg, &why);
}

/* NAME[:TYPE][=FILE] */
static int add_output(struct exec_job *j, const char *arg)
{
	size_t n = strcspn(arg, ":=");
	struct exec_output out = {.name = strndup(arg, n)};
	const char *s = arg + n;
	struct text why = {0};

	if (*s == ':') {
		s++;
		if (!data_parse_type(&s, &out.data, &why))
			goto fail;
	}
	if (*s == '=')
		out.path = s + 1;
	else if (*s)
		text_printf(&why, "unexpected '%s' after the name", s);
	if (n && !why.at && VEC_PUSH(&j->outputs, out))
		return TOOL_OK;
	if (!why.at)
		text_puts(&why, "--dump takes NAME or NAME=FILE");
fail:
	free(out.name);
	return bad_argument(j, arg, &why);
}

static int parse_option(struct exec_job *j, int c)
{
	char *end;
	u64 v;

	switch (c) {
	case 'r':
		j->replay_path = optarg;
		return TOOL_OK;
	case 'k':
		j->kernel = optarg;
		return TOOL_OK;
	case 'd':
		j->device = optarg;
		return TOOL_OK;
	case 'c':
		j->cooperative = true;
		return TOOL_OK;
	case 'p':
		j->dump_program = true;
		return TOOL_OK;
	case 'f':
		j->host_functions = optarg ? optarg : "all";
		return TOOL_OK;
	case 'n':
		j->watch.count = true;
		return TOOL_OK;
	case 'm':
		j->watch.count_caches = true;
		return TOOL_OK;
	case 't':
		j->watch.trace_path = optarg;
		return TOOL_OK;
	case 'E':
	case 'T':
	case 'F':
	case 'M':
	case 'V':
	case 'P':
	case 'A':
	case 'L':
		return expect_option(j, c, optarg);
	case 'S':
		j->seeds = optarg;
		return TOOL_OK;
	case 'a':
		return add_input(j, optarg, false);
	case 'u':
		return add_input(j, optarg, true);
	case 'o':
		return add_output(j, optarg);
	case 'g':
		return parse_extents(optarg, j->grid)
			       ? TOOL_OK
			       : tool_usage(j->self, "--grid takes X[,Y,Z], not '%s'", optarg);
	case 'x':
		return parse_extents(optarg, j->cluster) && j->cluster[0] && j->cluster[1] &&
				       j->cluster[2]
			       ? TOOL_OK
			       : tool_usage(j->self, "--cluster takes X[,Y,Z], not '%s'", optarg);
	case 'b':
		return parse_extents(optarg, j->block)
			       ? TOOL_OK
			       : tool_usage(j->self, "--block takes X[,Y,Z], not '%s'", optarg);
	case 's':
		v = strtoull(optarg, &end, 0);
		j->shared = (u32)v;
		return end != optarg && !*end && v <= UINT32_MAX
			       ? TOOL_OK
			       : tool_usage(j->self, "--shared takes bytes, not '%s'", optarg);
	default:
		return tool_usage(j->self, "unknown option");
	}
}

/* A record has all that other options would say. */
static int check_replay(const struct exec_job *j, int argc)
{
	if (optind < argc)
		return tool_usage(j->self, "--replay takes no file beside the record");
	if (j->launch_option)
		return tool_usage(j->self,
				  "the record has the launch: --replay does not go with '%s'",
				  j->launch_option);
	return TOOL_OK;
}

int exec_job_parse(struct exec_job *j, int argc, char **argv)
{
	static const struct option options[] = {
		{"kernel", required_argument, NULL, 'k'},
		{"grid", required_argument, NULL, 'g'},
		{"block", required_argument, NULL, 'b'},
		{"shared", required_argument, NULL, 's'},
		{"cooperative", no_argument, NULL, 'c'},
		{"arg", required_argument, NULL, 'a'},
		{"buffer", required_argument, NULL, 'u'},
		{"dump", required_argument, NULL, 'o'},
		{"device", required_argument, NULL, 'd'},
		{"dump-program", no_argument, NULL, 'p'},
		{"cluster", required_argument, NULL, 'x'},
		{"help", no_argument, NULL, 'h'},
		{"host-functions", optional_argument, NULL, 'f'},
		{"count", no_argument, NULL, 'n'},
		{"caches", no_argument, NULL, 'm'},
		{"trace", required_argument, NULL, 't'},
		{"replay", required_argument, NULL, 'r'},
		{"expect", required_argument, NULL, 'E'},
		{"tolerance", required_argument, NULL, 'T'},
		{"expect-fault", required_argument, NULL, 'F'},
		{"expect-metric", required_argument, NULL, 'M'},
		{"save-metrics", required_argument, NULL, 'V'},
		{"save-places", no_argument, NULL, 'P'},
		{"against", required_argument, NULL, 'A'},
		{"allow", required_argument, NULL, 'L'},
		{"seeds", required_argument, NULL, 'S'},
		{0},
	};
	int c, status = check_options_take(j->self, &argc, argv);

	if (!status)
		status = check_options_begin();
	optind = 1;
	opterr = 0;
	while (!status && (c = getopt_long(argc, argv, ":d:h", options, NULL)) != -1) {
		if (c == 'h') {
			tool_help(j->self);
			return -1;
		}
		if (c == '?' || c == ':')
			return tool_usage(j->self, "%s '%s'",
					  c == ':' ? "there is no value for" : "unknown option",
					  argv[optind - 1]);
		if (strchr("kgbscauxd", c))
			j->launch_option = argv[optind - 1];
		status = parse_option(j, c);
	}
	if (status)
		return status;
	if (j->replay_path)
		return check_replay(j, argc);
	if (optind + 1 != argc)
		return tool_usage(j->self,
				  optind == argc ? "no file given" : "more than one file given");
	j->file = argv[optind];
	return TOOL_OK;
}

void exec_job_fini(struct exec_job *j)
{
	for (size_t i = 0; i < j->inputs.len; i++) {
		free(j->inputs.at[i].name);
		data_fini(&j->inputs.at[i].data);
	}
	for (size_t i = 0; i < j->outputs.len; i++)
		free(j->outputs.at[i].name);
	expect_fini(&j->expect);
	VEC_FREE(&j->inputs);
	VEC_FREE(&j->outputs);
}
