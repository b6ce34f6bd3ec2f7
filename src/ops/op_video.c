/*
 * Handlers of the video instructions. Their modifiers are data, so one handler serves each shape.
 */
#include "src/ops/lane_shapes.h"

#define VIDEO_DATA ((const struct num_video *)(const void *)(g->env->program->ext + in->ext))
#define VMAD_DATA ((const struct num_vmad *)(const void *)(g->env->program->ext + in->ext))

#define OP LANE_HANDLER
#include "src/uop/table/video.def"
