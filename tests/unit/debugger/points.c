/*
 * Breakpoints before there is a program: places, conditions, counts, commands; what another
 * interpreter takes over as text.
 */
#include "src/debugger/debugger.h"
#include "tests/check.h"

static struct text out;

static const char *prints(struct debugger *x, const char *line)
{
	text_fini(&out);
	text_puts(&out, "");
	debugger_command(x, line, &out);
	return out.at;
}

static void check_places(struct debugger *x)
{
	CHECK_STR(prints(x, "break a.cu:12"),
		  "Breakpoint 1 at a.cu:12, when its code is loaded.\n");
	CHECK_STR(prints(x, "b 7 if i == 3 && f(1)"),
		  "Breakpoint 2 at 7, when its code is loaded.\n");
	CHECK_STR(prints(x, "tbreak ns::k<int>"),
		  "Temporary breakpoint 3 at ns::k<int>, when its code is loaded.\n");
	CHECK_STR(prints(x, "break *k+12"), "Breakpoint 4 at *k+12, when its code is loaded.\n");
	CHECK_STR(prints(x, "catch fault"), "Catchpoint 5 (fault)\n");
	CHECK_STR(prints(x, "break"), "A line, function or *FUNCTION+INSTRUCTION is needed.\n");
	CHECK_STR(prints(x, "break 0"),
		  "\"0\" is not a line, function or *FUNCTION+INSTRUCTION.\n");
	CHECK_STR(prints(x, "break a.cu:+x"),
		  "\"a.cu:+x\" is not a line, function or *FUNCTION+INSTRUCTION.\n");
	CHECK_STR(prints(x, "break ns::x"), "Breakpoint 6 at ns::x, when its code is loaded.\n");
	CHECK_STR(prints(x, "ignore 6 -1"), "-1 is negative.\n");
	CHECK_STR(prints(x, "break *k+"),
		  "\"*k+\" is not a line, function or *FUNCTION+INSTRUCTION.\n");
	CHECK_STR(
		prints(x, "catch nothing"),
		"Events are: launch, fault, deadlock, divergence, assert, barrier, exit, finding.\n");
	CHECK_STR(prints(x, "print $bpnum"), "$1 = 6\n");
	CHECK_STR(prints(x, "watch i"), "The program is not being run.\n");
}

static void check_changes(struct debugger *x)
{
	CHECK_STR(prints(x, "ignore 2 5"), "Will ignore next 5 crossings of breakpoint 2.\n");
	CHECK_STR(prints(x, "condition 1 t == 4"), "");
	CHECK_STR(prints(x, "condition 9 1"), "No breakpoint number 9.\n");
	CHECK_STR(prints(x, "condition"), "Argument required (breakpoint number).\n");
	CHECK_STR(prints(x, "ignore x 1"), "Bad breakpoint argument: 'x 1'\n");
	CHECK_STR(prints(x, "disable 4"), "");
	CHECK_STR(prints(x, "delete 6"), "");
	CHECK_STR(prints(x, "delete 6"), "No breakpoint number 6.\n");
	CHECK(debugger_command(x, "commands 1", &out).outcome == DEBUGGER_MORE);
	CHECK(debugger_command(x, "silent", &out).outcome == DEBUGGER_MORE);
	CHECK(debugger_command(x, "  print t", &out).outcome == DEBUGGER_MORE);
	CHECK(debugger_command(x, "end", &out).outcome == DEBUGGER_DONE);
}

static const char listing[] = "Num     Type            Disp Enb What\n"
			      "1       breakpoint      keep y   <PENDING>  a.cu:12\n"
			      "\tstop only if t == 4\n"
			      "\tsilent\n"
			      "\tprint t\n"
			      "2       breakpoint      keep y   <PENDING>  7\n"
			      "\tstop only if i == 3 && f(1)\n"
			      "\tignore next 5 hits\n"
			      "3       breakpoint      del  y   <PENDING>  ns::k<int>\n"
			      "4       breakpoint      keep n   <PENDING>  *k+12\n"
			      "5       catchpoint      keep y   fault\n";

static void check_state(struct debugger *x)
{
	struct debugger *other = debugger_new();
	struct text state = {0}, again = {0};

	CHECK_STR(prints(x, "info breakpoints"), listing);
	debugger_state(x, &state);
	debugger_restore(other, state.at);
	CHECK_STR(prints(other, "info breakpoints"), listing);
	debugger_state(other, &again);
	CHECK_STR(again.at, state.at);
	CHECK_STR(prints(other, "break 3"), "Breakpoint 7 at 3, when its code is loaded.\n");
	CHECK_STR(prints(other, "delete"), "");
	CHECK_STR(prints(other, "info b"), "No breakpoints, watchpoints, or catchpoints.\n");
	text_fini(&state);
	text_fini(&again);
	debugger_free(other);
}

/* What is in the middle of a state is no reason to stop taking it over. */
static void check_bad_state(void)
{
	struct debugger *x = debugger_new();

	debugger_restore(x, "-number 3\nfrobnicate\nbreak 1\n\ncommands 3\nprint 1");
	CHECK_STR(prints(x, "end"), "");
	CHECK(strstr(prints(x, "info breakpoints"), "3       breakpoint") != NULL);
	debugger_free(x);
}

int main(void)
{
	struct debugger *x = debugger_new();

	if (!CHECK(x != NULL))
		return check_done();
	check_places(x);
	check_changes(x);
	check_state(x);
	check_bad_state();
	debugger_free(x);
	text_fini(&out);
	return check_done();
}
