/*
 * Frames on a socket.
 */
#include "src/debugger/link.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINK_HEAD 5u

static bool link_write(int fd, const void *from, size_t n)
{
	const u8 *at = from;

	while (n) {
		ssize_t k = send(fd, at, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= (size_t)k;
	}
	return true;
}

bool link_send(int fd, u8 kind, const void *payload, size_t len)
{
	u8 head[LINK_HEAD] = {0, 0, 0, 0, kind};

	if (len > LINK_PAYLOAD_MAX)
		len = LINK_PAYLOAD_MAX;
	for (u32 i = 0; i < 4; i++)
		head[i] = (u8)((len + 1) >> 8 * i);
	return link_write(fd, head, sizeof(head)) && link_write(fd, payload, len);
}

/* Returns how many bytes came before the end. */
static size_t link_read(int fd, void *to, size_t n)
{
	u8 *at = to;
	size_t got = 0;

	while (got < n) {
		ssize_t k = recv(fd, at + got, n - got, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			break;
		got += (size_t)k;
	}
	return got;
}

bool link_receive(int fd, const char *kinds, struct link_frame *out, struct text *why)
{
	u8 head[LINK_HEAD];
	u32 len = 0;
	size_t got;

	*out = (struct link_frame){0};
	got = link_read(fd, head, sizeof(head));
	if (!got)
		return false;
	for (u32 i = 0; i < 4; i++)
		len |= (u32)head[i] << 8 * i;
	if (got < sizeof(head)) {
		text_puts(why, "the connection ends within a frame");
		return false;
	}
	if (!head[4] || !strchr(kinds, head[4])) {
		text_printf(why, "a frame of unknown kind %u", head[4]);
		return false;
	}
	if (!len || len - 1 > LINK_PAYLOAD_MAX) {
		text_printf(why, "a frame of %u bytes", len);
		return false;
	}
	out->kind = head[4];
	out->len = len - 1;
	out->payload = malloc(len);
	if (!out->payload) {
		text_puts(why, "no memory for a frame");
		return false;
	}
	out->payload[out->len] = 0;
	if (link_read(fd, out->payload, out->len) == out->len)
		return true;
	text_puts(why, "the connection ends within a frame");
	return false;
}

void link_frame_fini(struct link_frame *f)
{
	free(f->payload);
	f->payload = NULL;
}
