/*
 * Capture of streams into graphs, behind both interfaces.
 */
#include "runtime/graph/graph_api.h"

static struct stream *stream_of(const void *stream, bool own, bool driver, int *status)
{
	return driver ? drv_stream(stream, own, status) : rt_stream(stream, own, status);
}

static int begin_capture(struct stream *s, int status, int mode, struct graph *g,
			 const struct graph_after *after)
{
	if (!s)
		return status;
	if (mode < 0 || mode > CAPTURE_RELAXED)
		return STATUS_INVALID_VALUE;
	return (int)stream_capture_begin(s, (enum capture_mode)mode, g, after);
}

static int begin_new(void *stream, bool own, bool driver, int mode)
{
	int status;
	struct stream *s = stream_of(stream, own, driver, &status);

	return begin_capture(s, status, mode, NULL, NULL);
}

static int begin_into(void *stream, bool own, bool driver, int mode, struct graph *g,
		      const struct graph_after *after)
{
	int status;
	struct stream *s = stream_of(stream, own, driver, &status);

	return g ? begin_capture(s, status, mode, g, after) : STATUS_INVALID_VALUE;
}

static int end_capture(void *stream, bool own, bool driver, struct graph **out)
{
	int status;
	struct stream *s = stream_of(stream, own, driver, &status);

	struct graph *g;

	if (!s)
		return status;
	/* Who captures into a graph of his own has it already. */
	status = (int)stream_capture_end(s, &g);
	if (out)
		*out = g;
	return status;
}

static int is_capturing(void *stream, bool own, bool driver, int *out)
{
	int status;
	struct stream *s = stream_of(stream, own, driver, &status);
	struct capture_info info;

	if (!s)
		return status;
	if (!out)
		return STATUS_INVALID_VALUE;
	status = (int)stream_capture_info(s, &info);
	if (!status)
		*out = (int)info.state;
	return status;
}

/* Where the answers go; any may be NULL but the first. */
struct answer {
	int *state;
	u64 *id;
	struct graph **graph;
	struct graph_node *const **after;
	const struct graph_edge_data **data;
	size_t *len;
};

static int get_info(void *stream, bool own, bool driver, const struct answer *a)
{
	int status;
	struct stream *s = stream_of(stream, own, driver, &status);
	struct capture_info info;

	if (!s)
		return status;
	if (!a->state)
		return STATUS_INVALID_VALUE;
	status = (int)stream_capture_info(s, &info);
	if (!status)
		*a->state = (int)info.state;
	if (status || info.state != CAPTURE_ACTIVE)
		return status;
	if (a->id)
		*a->id = info.id;
	if (a->graph)
		*a->graph = info.graph;
	if (a->after)
		*a->after = info.after;
	if (a->data)
		*a->data = info.data;
	if (a->len)
		*a->len = info.after_len;
	return status;
}

static int update_dependencies(void *stream, bool own, bool driver, const struct graph_after *after,
			       unsigned flags)
{
	int status;
	struct stream *s = stream_of(stream, own, driver, &status);

	if (!s)
		return status;
	return flags > 1 ? STATUS_INVALID_VALUE : (int)stream_capture_update(s, after, flags == 1);
}

static int exchange(int *mode)
{
	/* Any number is taken; any other than the three forbids as the first one does. */
	if (!mode)
		return STATUS_INVALID_VALUE;
	if (*mode < 0 || *mode > CAPTURE_RELAXED)
		*mode = CAPTURE_GLOBAL;
	*mode = (int)stream_capture_mode_exchange(GRAPHS, (enum capture_mode) * mode);
	return STATUS_SUCCESS;
}

/* A name and its _ptsz form. */
#define BOTH(define, name, params, body)                                                           \
	OWN_FN(define, name, params, body, false)                                                  \
	OWN_FN(define, name##_ptsz, params, body, true)
#define OWN_FN(define, name, params, body, is_own) define(name, params, body(is_own, DRIVER))

#define BEGIN(own, driver) begin_new(stream, own, driver, mode)
#define BEGIN_OLD(own, driver) begin_new(stream, own, driver, CAPTURE_GLOBAL)
#define BEGIN_INTO(own, driver)                                                                    \
	begin_into(stream, own, driver, mode, g, &(struct graph_after){deps, data, n})
#define END(own, driver) end_capture(stream, own, driver, out)
#define IS_CAPTURING(own, driver) is_capturing(stream, own, driver, out)
#define INFO(own, driver)                                                                          \
	get_info(stream, own, driver, &(struct answer){state, id, g, deps, data, n})
#define INFO_2(own, driver)                                                                        \
	get_info(stream, own, driver, &(struct answer){state, id, g, deps, NULL, n})
#define INFO_1(own, driver)                                                                        \
	get_info(stream, own, driver, &(struct answer){.state = state, .id = id})
#define UPDATE(own, driver)                                                                        \
	update_dependencies(stream, own, driver, &(struct graph_after){deps, data, n}, flags)
#define UPDATE_1(own, driver)                                                                      \
	update_dependencies(stream, own, driver, &(struct graph_after){deps, NULL, n}, flags)

BOTH(GRAPH_RT_FN, StreamBeginCapture, (void *stream, int mode), BEGIN)
BOTH(GRAPH_DRV_FN, StreamBeginCapture, (void *stream), BEGIN_OLD)
BOTH(GRAPH_DRV_FN, StreamBeginCapture_v2, (void *stream, int mode), BEGIN)
BOTH(GRAPH_FN, StreamBeginCaptureToGraph,
     (void *stream, struct graph *g, struct graph_node *const *deps,
      const struct graph_edge_data *data, size_t n, int mode),
     BEGIN_INTO)
BOTH(GRAPH_FN, StreamEndCapture, (void *stream, struct graph **out), END)
BOTH(GRAPH_FN, StreamIsCapturing, (void *stream, int *out), IS_CAPTURING)
BOTH(GRAPH_RT_FN, StreamGetCaptureInfo,
     (void *stream, int *state, u64 *id, struct graph **g, struct graph_node *const **deps,
      const struct graph_edge_data **data, size_t *n),
     INFO)
BOTH(GRAPH_DRV_FN, StreamGetCaptureInfo_v3,
     (void *stream, int *state, u64 *id, struct graph **g, struct graph_node *const **deps,
      const struct graph_edge_data **data, size_t *n),
     INFO)
BOTH(GRAPH_DRV_FN, StreamGetCaptureInfo_v2,
     (void *stream, int *state, u64 *id, struct graph **g, struct graph_node *const **deps,
      size_t *n),
     INFO_2)
BOTH(GRAPH_DRV_FN, StreamGetCaptureInfo, (void *stream, int *state, u64 *id), INFO_1)
BOTH(GRAPH_RT_FN, StreamUpdateCaptureDependencies,
     (void *stream, struct graph_node *const *deps, const struct graph_edge_data *data, size_t n,
      unsigned flags),
     UPDATE)
BOTH(GRAPH_DRV_FN, StreamUpdateCaptureDependencies_v2,
     (void *stream, struct graph_node *const *deps, const struct graph_edge_data *data, size_t n,
      unsigned flags),
     UPDATE)
BOTH(GRAPH_DRV_FN, StreamUpdateCaptureDependencies,
     (void *stream, struct graph_node *const *deps, size_t n, unsigned flags), UPDATE_1)
/*
 * What the names without a number meant in CUDA 11 and 12, and the names of 12 that became plain.
 */
#define BOTH_12(name, params, body)                                                                \
	OWN_FN(GRAPH_RT_FN, name##_12, params, body, false)                                        \
	OWN_FN(GRAPH_RT_FN, name##_ptsz_12, params, body, true)

BOTH_12(StreamGetCaptureInfo, (void *stream, int *state, u64 *id), INFO_1)
BOTH_12(StreamUpdateCaptureDependencies,
	(void *stream, struct graph_node *const *deps, size_t n, unsigned flags), UPDATE_1)
BOTH(GRAPH_RT_FN, StreamGetCaptureInfo_v2,
     (void *stream, int *state, u64 *id, struct graph **g, struct graph_node *const **deps,
      size_t *n),
     INFO_2)
BOTH(GRAPH_RT_FN, StreamGetCaptureInfo_v3,
     (void *stream, int *state, u64 *id, struct graph **g, struct graph_node *const **deps,
      const struct graph_edge_data **data, size_t *n),
     INFO)
BOTH(GRAPH_RT_FN, StreamUpdateCaptureDependencies_v2,
     (void *stream, struct graph_node *const *deps, const struct graph_edge_data *data, size_t n,
      unsigned flags),
     UPDATE)
GRAPH_FN(ThreadExchangeStreamCaptureMode, (int *mode), exchange(mode))
