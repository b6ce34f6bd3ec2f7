/*
 * The lines of PTXLOOM_REPORT.
 */
#include "src/check/record.h"
#include "src/check/format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool record_is_on(void)
{
	return setting_text(SETTING_REPORT);
}

/* All or nothing: what a full disk took is taken back. The file is locked. */
static bool append_line(int file, const struct text *line)
{
	struct stat before;
	size_t done = 0;
	int error;

	if (fstat(file, &before))
		return false;
	while (done < line->len) {
		ssize_t n = write(file, line->at + done, line->len - done);

		if (n > 0) {
			done += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			error = n ? errno : EIO;
			if (done && S_ISREG(before.st_mode) && ftruncate(file, before.st_size))
				return false;
			errno = error;
			return false;
		}
	}
	return true;
}

static void append_record(struct text *line)
{
	static int said;
	const char *path = setting_text(SETTING_REPORT);
	int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666), error = errno;
	bool ok = false;

	text_puts(line, "}\n");
	if (file >= 0 && !line->failed) {
		flock(file, LOCK_EX);
		ok = append_line(file, line);
		error = errno;
	}
	if (file >= 0 && close(file) && ok) {
		error = errno;
		ok = false;
	}
	if (!ok && !__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		fprintf(stderr, "ptxloom: error: PTXLOOM_REPORT: %s: %s\n", path,
			line->failed ? "no memory left" : strerror(error));
	text_fini(line);
}

/* The members that every line begins with. */
static void begin_record(const char *type, struct text *line)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	text_printf(line, "{\"type\": \"%s\", \"pid\": %ld, \"host\": ", type, (long)getpid());
	text_json_string(line, host);
	text_puts(line, ", \"program\": ");
	text_json_string(line, program_invocation_name);
}

void record_finding(const struct finding *f)
{
	struct text line = {0};

	if (!record_is_on())
		return;
	begin_record("finding", &line);
	text_puts(&line, ", \"finding\": ");
	finding_format_json(f, &line);
	append_record(&line);
}

void record_metrics(const char *claim, u64 compared, const char *broken)
{
	struct text line = {0};
	bool is_first = true;

	if (!record_is_on())
		return;
	begin_record("metrics", &line);
	text_puts(&line, ", \"claim\": ");
	text_json_string(&line, claim);
	text_printf(&line, ", \"compared\": %llu, \"broken\": [", (unsigned long long)compared);
	for (const char *s = broken; *s; s += *s == '\n') {
		struct text one = {0};

		text_add(&one, s, strcspn(s, "\n"));
		s += strcspn(s, "\n");
		/* Lines that are indented go on. */
		while (*s && s[1] == ' ') {
			s += 1 + strspn(s + 1, " ");
			text_puts(&one, "; ");
			text_add(&one, s, strcspn(s, "\n"));
			s += strcspn(s, "\n");
		}
		text_puts(&line, is_first ? "" : ", ");
		is_first = false;
		text_json_string(&line, one.at ? one.at : "");
		text_fini(&one);
	}
	text_puts(&line, "]");
	append_record(&line);
}

void record_inject(const char *what)
{
	struct text line = {0}, text = {0};

	if (!record_is_on())
		return;
	begin_record("inject", &line);
	text_add(&text, what, strcspn(what, "\n"));
	text_puts(&line, ", \"text\": ");
	text_json_string(&line, text.at ? text.at : "");
	text_fini(&text);
	append_record(&line);
}

void record_count(struct record_process *p, const struct findings *l)
{
	for (size_t i = 0; i < l->list.len; i++)
		*(l->list.at[i].is_warning ? &p->warnings : &p->errors) += l->list.at[i].count;
}

void record_process(const struct record_process *p)
{
	struct text line = {0};

	if (!record_is_on())
		return;
	begin_record("process", &line);
	text_puts(&line, ", \"devices\": ");
	text_json_string(&line, p->devices ? p->devices : "default");
	text_puts(&line, ", \"checks\": ");
	text_json_string(&line, p->checks ? p->checks : "");
	text_printf(&line, ", \"launches\": %llu, \"errors\": %llu, \"warnings\": %llu",
		    (unsigned long long)p->launches, (unsigned long long)p->errors,
		    (unsigned long long)p->warnings);
	append_record(&line);
}
