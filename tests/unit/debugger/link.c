/*
 * Frames between a program and its debugger: whole, cut, too long, unknown.
 */
#include "src/debugger/link.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static void open_pair(void)
{
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static void close_pair(void)
{
	close(pair[0]);
	close(pair[1]);
}

static void check_whole(void)
{
	struct link_frame f;
	struct text why = {0};

	open_pair();
	CHECK(link_send(pair[0], LINK_COMMAND, "next 2", 6));
	CHECK(link_send(pair[0], LINK_INTERRUPT, NULL, 0));
	CHECK(link_receive(pair[1], "ci", &f, &why));
	CHECK_EQ(f.kind, LINK_COMMAND);
	CHECK_EQ(f.len, 6);
	CHECK_STR(f.payload, "next 2");
	link_frame_fini(&f);
	CHECK(link_receive(pair[1], "ci", &f, &why));
	CHECK_EQ(f.kind, LINK_INTERRUPT);
	CHECK_EQ(f.len, 0);
	link_frame_fini(&f);
	close(pair[0]);
	CHECK(!link_receive(pair[1], "ci", &f, &why));
	CHECK_MSG(!why.len, "an end between frames is in order");
	link_frame_fini(&f);
	CHECK_MSG(!link_send(pair[1], LINK_OUTPUT, "x", 1), "the other end is closed");
	close(pair[1]);
}

/* Some bytes and the end: what the message is. */
static const char *receive(const void *bytes, size_t n)
{
	static struct text why;
	struct link_frame f;

	text_fini(&why);
	open_pair();
	CHECK_EQ(write(pair[0], bytes, n), (ssize_t)n);
	shutdown(pair[0], SHUT_WR);
	CHECK(!link_receive(pair[1], "ci", &f, &why));
	link_frame_fini(&f);
	close_pair();
	return why.at;
}

static void check_damaged(void)
{
	CHECK_STR(receive("\1\0", 2), "the connection ends within a frame");
	CHECK_STR(receive("\4\0\0\0cab", 7), "the connection ends within a frame");
	CHECK_STR(receive("\1\0\0\0z", 5), "a frame of unknown kind 122");
	CHECK_STR(receive("\1\0\0\0\0", 5), "a frame of unknown kind 0");
	CHECK_STR(receive("\0\0\0\0c", 5), "a frame of 0 bytes");
	CHECK_STR(receive("\377\377\377\377c", 5), "a frame of 4294967295 bytes");
	CHECK_STR(receive("\2\0\0\1c", 5), "a frame of 16777218 bytes");
}

int main(void)
{
	check_whole();
	check_damaged();
	return check_done();
}
