/*
 * Attributes of streams and launches. Both interfaces have the same numbers and the same layout.
 */
#ifndef PL_STREAM_ATTR_H
#define PL_STREAM_ATTR_H

#include "runtime/cuda_types.h"
#include "src/dev/stream/stream.h"
#include "src/dev/window.h"

/* CUlaunchAttributeValue, cudaLaunchAttributeValue: 64 bytes. */
union launch_attr_value {
	u8 bytes[64];
	int number;
	u32 dim[3];
	s8 domain_map[2];
	struct {
		void *base;
		size_t bytes;
		float hit_ratio;
		int hit, miss;
	} window;
	struct {
		struct stream_event *event;
		int flags, trigger_at_start;
	} event;
	struct {
		int updatable;
		void *node;
	} device_node;
};

/* One attribute as programs pass it: 72 bytes. */
struct launch_attr {
	int id;
	int pad;
	union launch_attr_value value;
};

/* cudaLaunchConfig_t, 56 bytes. */
struct rt_launch_config {
	struct rt_dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
	const struct launch_attr *attrs;
	unsigned attr_len;
};

/* CUlaunchConfig, 56 bytes. */
struct drv_launch_config {
	u32 grid[3], block[3];
	u32 shared;
	void *stream;
	const struct launch_attr *attrs;
	u32 attr_len;
};

/* What the attributes of one launch say. */
struct launch_attrs {
	bool cooperative, programmatic;
	u32 cluster[3]; /* 0: not given */
	int cluster_policy;
	struct stream_event *event[2]; /* to be recorded with the launch, NULL: none */
	int event_flags[2];
	bool has_window;
	struct access_window window; /* of the second cache */
};

/*
 * Read the attributes of a launch; d NULL: its device is not known. STATUS_INVALID_VALUE for what
 * CUDA refuses, STATUS_NOT_SUPPORTED for kernel nodes that the device updates.
 */
enum status launch_attrs_read(const struct streams *all, const struct device *d,
			      const struct launch_attr *at, u32 n, struct launch_attrs *out);
/* The window for window_give: that of the attributes, NULL: none, else the stream's, in `room`. */
const struct access_window *launch_window_of(const struct launch_attrs *a, const struct stream *s,
					     struct access_window *room);
/* After the launch: record the events it is to complete. */
enum status launch_attrs_record(const struct launch_attrs *a, struct stream *s);

/* Attributes of a stream: value is the union of struct launch_attr. */
enum status stream_attr_get(const struct stream *s, int id, void *value);
enum status stream_attr_set(struct stream *s, int id, const void *value);
enum status stream_attr_copy(struct stream *to, const struct stream *from);

#endif
