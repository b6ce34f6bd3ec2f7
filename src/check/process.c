/*
 * A filter is `all`, `application-only`, or a list of expressions with commas between them: NAME,
 * regex:EXPRESSION, exclude:NAME, exclude-tree:NAME. Names are those of programs without folders.
 */
#include "src/check/process.h"
#include "src/base/setting.h"

#include <errno.h> /* program_invocation_short_name */
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APPLICATION "application-only"
#define PID "pid:"
/* Far more than processes are nested. */
#define GENERATIONS 64

enum process_rule { PROCESS_NAME, PROCESS_REGEX, PROCESS_EXCLUDE, PROCESS_TREE, PROCESS_PID };

static const struct {
	const char *prefix;
	enum process_rule rule;
} process_rules[] = {{"regex:", PROCESS_REGEX},
		     {"exclude:", PROCESS_EXCLUDE},
		     {"exclude-tree:", PROCESS_TREE},
		     {PID, PROCESS_PID}};

/* The next expression of a list, which moves past it. False: there is none, or no memory. */
static bool next_rule(const char **list, enum process_rule *rule, char **value)
{
	size_t n = strcspn(*list, ",");
	const char *at = *list;

	if (!*at)
		return false;
	*list += n + (at[n] == ',');
	*rule = PROCESS_NAME;
	for (size_t i = 0; i < ARRAY_LEN(process_rules); i++) {
		size_t k = strlen(process_rules[i].prefix);

		if (n >= k && !memcmp(at, process_rules[i].prefix, k)) {
			*rule = process_rules[i].rule;
			at += k;
			n -= k;
			break;
		}
	}
	*value = strndup(at, n);
	return *value != NULL;
}

bool check_processes_read(const char *filter, struct text *why)
{
	const char *list = filter;
	enum process_rule rule;
	char *value;

	while (!why->len && next_rule(&list, &rule, &value)) {
		regex_t compiled;

		if (!*value)
			text_printf(why, "an expression of '%s' has no name", filter);
		else if (strchr(value, '/') && rule != PROCESS_REGEX)
			text_printf(why, "'%s': processes have names without folders", value);
		else if (rule == PROCESS_REGEX &&
			 regcomp(&compiled, value, REG_EXTENDED | REG_NOSUB))
			text_printf(why, "'%s' is no regular expression", value);
		else if (rule == PROCESS_REGEX)
			regfree(&compiled);
		free(value);
	}
	return !why->len;
}

/* ---- processes ---- */

/* The name of a process's program; false: it has gone, or is another user's. */
static bool name_of_process(pid_t pid, char *out, size_t size)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return (size_t)snprintf(out, size, "%s", basename(path)) < size;
}

static pid_t parent_process(pid_t pid)
{
	char path[64], line[512];
	const char *end;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	/* The name in parentheses may have any character. */
	if (f && fgets(line, sizeof(line), f) && (end = strrchr(line, ')')) &&
	    sscanf(end + 1, " %*c %d", &parent) != 1)
		parent = 0;
	if (f)
		fclose(f);
	return parent;
}

static bool is_process_named(pid_t pid, const char *name)
{
	char is[PATH_MAX];

	return name_of_process(pid, is, sizeof(is)) && !strcmp(is, name);
}

/* By the name that it was started with, too: python is python3.11. */
static bool am_named(const char *name)
{
	return !strcmp(program_invocation_short_name, name) || is_process_named(getpid(), name);
}

static bool is_under(const char *name)
{
	pid_t pid = getpid();

	if (am_named(name))
		return true;
	for (int i = 0; i < GENERATIONS && (pid = parent_process(pid)) > 0; i++)
		if (is_process_named(pid, name))
			return true;
	return false;
}

static bool am_like(const char *expression)
{
	char name[PATH_MAX];
	regex_t compiled;
	bool ok;

	if (regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB))
		return false;
	ok = !regexec(&compiled, program_invocation_short_name, 0, NULL, 0) ||
	     (name_of_process(getpid(), name, sizeof(name)) &&
	      !regexec(&compiled, name, 0, NULL, 0));
	regfree(&compiled);
	return ok;
}

static bool am_chosen(const char *list)
{
	bool wants = false, wanted = false, excluded = false;
	enum process_rule rule;
	char *value;

	while (next_rule(&list, &rule, &value)) {
		bool fits = rule == PROCESS_REGEX  ? am_like(value)
			    : rule == PROCESS_TREE ? is_under(value)
			    : rule == PROCESS_PID  ? getpid() == atoi(value)
						   : am_named(value);

		if (rule == PROCESS_EXCLUDE || rule == PROCESS_TREE) {
			excluded |= fits;
		} else {
			wants = true;
			wanted |= fits;
		}
		free(value);
	}
	return !excluded && (!wants || wanted);
}

static void settle_process(void)
{
	const char *list = setting_text(SETTING_CHECK_PROCESSES);

	if (list && strcmp(list, "all") != 0 && strcmp(list, APPLICATION) != 0 && !am_chosen(list))
		setting_hide(SETTING_CHECK);
}

static pthread_once_t process_once = PTHREAD_ONCE_INIT;

void check_process_settle(void)
{
	pthread_once(&process_once, settle_process);
}

void check_process_forget(void)
{
	process_once = (pthread_once_t)PTHREAD_ONCE_INIT;
	setting_show(SETTING_CHECK);
}

void check_process_begin(void)
{
	const char *list = setting_text(SETTING_CHECK_PROCESSES);
	char pid[32];

	if (!list || strcmp(list, APPLICATION) != 0)
		return;
	snprintf(pid, sizeof(pid), PID "%d", (int)getpid());
	setenv(setting_variable(SETTING_CHECK_PROCESSES), pid, 1);
}
