/*
 * Commands by name, prefix and alias; what is wrong with a line is one line; echo.
 */
#include "src/debugger/debugger.h"
#include "tests/check.h"

static struct text out;

static struct debugger_result run(struct debugger *x, const char *line)
{
	text_fini(&out);
	text_puts(&out, "");
	return debugger_command(x, line, &out);
}

static const char *prints(struct debugger *x, const char *line)
{
	run(x, line);
	return out.at;
}

static void check_names(struct debugger *x)
{
	CHECK(run(x, "frobnicate 3").failed);
	CHECK_STR(out.at, "Undefined command: \"frobnicate\".  Try \"help\".\n");
	CHECK(run(x, "?").failed);
	CHECK_STR(out.at, "Undefined command: \"?\".  Try \"help\".\n");
	CHECK(run(x, "info frobnicate").failed);
	CHECK_STR(out.at, "Undefined info command: \"frobnicate\".  Try \"help info\".\n");
	CHECK(run(x, "so").outcome == DEBUGGER_FRONT);
	CHECK(run(x, "sh").failed);
	CHECK_STR(out.at, "Ambiguous command \"sh\": show, shell.\n");
	CHECK(run(x, "").outcome == DEBUGGER_DONE);
	CHECK_STR(out.at, "");
	CHECK_STR(prints(x, "# break"), "");
	CHECK(run(x, "focus").failed);
	CHECK_STR(out.at, "The program is not being run.\n");
}

static void check_front(struct debugger *x)
{
	struct debugger_result r = run(x, "r 1 2 ");

	CHECK(r.outcome == DEBUGGER_FRONT);
	CHECK_STR(r.name, "run");
	CHECK_STR(r.args, "1 2");
	r = run(x, "q");
	CHECK(r.outcome == DEBUGGER_FRONT);
	CHECK_STR(r.name, "quit");
	r = run(x, "set args a b");
	CHECK_STR(r.name, "set args");
	CHECK_STR(r.args, "a b");
}

static void check_echo(struct debugger *x)
{
	CHECK_STR(prints(x, "echo a b"), "a b");
	CHECK_STR(prints(x, "echo \\n@@1\\n"), "\n@@1\n");
	CHECK_STR(prints(x, "echo \\  a\\tb\\\\n\\101"), "  a\tb\\nA");
	CHECK_STR(prints(x, "echo end\\"), "end");
}

static void check_help(struct debugger *x)
{
	CHECK(strstr(prints(x, "help"), "echo TEXT") != NULL);
	CHECK_STR(prints(x, "help echo"),
		  "echo TEXT\n    print a text; \\n and the like as in C\n");
	CHECK(strstr(prints(x, "help set"), "set args ARGS") != NULL);
}

static void check_completion(struct debugger *x)
{
	text_fini(&out);
	debugger_complete(x, "ech", &out);
	CHECK_STR(out.at, "echo\n");
	text_fini(&out);
	debugger_complete(x, "set ar", &out);
	CHECK_STR(out.at, "args\n");
}

int main(void)
{
	struct debugger *x = debugger_new();

	if (!CHECK(x != NULL))
		return check_done();
	check_names(x);
	check_front(x);
	check_echo(x);
	check_help(x);
	check_completion(x);
	debugger_free(x);
	text_fini(&out);
	return check_done();
}
