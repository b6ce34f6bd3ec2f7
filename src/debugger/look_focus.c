/*
 * The focus: which launch, CTA, warp, lane and frame commands are about. Without an argument its
 * commands say what it is.
 */
#include "src/debugger/look.h"

#include <ctype.h>

/* ---- saying ---- */

/* "Lane 9, thread (9,0,0), waiting", with the CTA and the warp in front when `whole`. */
static void say_focus(struct debugger *x, bool whole)
{
	const struct focus *f = &x->focus;
	struct cta *c = focus_cta(x);
	struct look_group g;
	struct text t = {0};
	u32 id[3];

	if (whole) {
		look_cta_id(debug_env(x->grid), f->cta, id);
		text_puts(&t, "CTA ");
		look_say_id(id, &t);
		text_printf(&t, " warp %u lane %u, thread ", f->warp, f->lane);
	} else {
		text_printf(&t, "Lane %u, thread ", f->lane);
	}
	machine_thread(debug_env(x->grid), f->warp, f->lane, id);
	look_say_id(id, &t);
	if (c && look_group_of(x, c, f->warp, f->lane, &g) && *g.state)
		text_printf(&t, ", %s", g.state);
	say(x, "%s\n", t.at ? t.at : "");
	text_fini(&t);
}

static void say_focus_place(struct debugger *x)
{
	struct cta *c = focus_cta(x);
	struct look_group g;

	if (c && look_group_of(x, c, x->focus.warp, x->focus.lane, &g) && g.pc != NO_PC)
		source_say_line(x, &g.where);
}

/* "Cluster (1,0,0), rank 1", of a launch that has clusters. */
static void say_cluster(struct debugger *x)
{
	const struct cta *c = focus_cta(x);
	struct text t = {0};
	u32 id[3], dims[3];

	if (!c || look_cluster_dims(c->env, dims) < 2)
		return;
	look_cluster_id(c, id);
	look_say_id(id, &t);
	say(x, "Cluster %s, rank %u\n", t.at ? t.at : "", c->rank);
	text_fini(&t);
}

void command_focus(struct debugger *x, const struct call *c PL_UNUSED)
{
	say(x, "Launch %llu, ", (unsigned long long)x->focus.launch);
	say_focus(x, true);
	say_cluster(x);
	if (x->focus.frame)
		say(x, "Frame #%u\n", x->focus.frame);
}

/* ---- moving ---- */

static void say_absent_cta(struct debugger *x, u64 cta)
{
	const struct exec_env *env = debug_env(x->grid);
	struct text t = {0};
	u32 id[3];

	if (cta >= debug_ctas(x->grid)) {
		say_error(x, "There is no CTA %llu: the grid has %llu", (unsigned long long)cta,
			  (unsigned long long)debug_ctas(x->grid));
		return;
	}
	look_cta_id(env, cta, id);
	look_say_id(id, &t);
	say_error(x, "CTA %s %s", t.at ? t.at : "",
		  debug_cta_is_done(x->grid, cta) ? "has ended" : "has not begun");
	text_fini(&t);
}

static bool lane_is_there(struct debugger *x, const struct cta *c, const struct focus *to)
{
	if (to->warp >= c->warps) {
		say_error(x, "There is no warp %u: the CTA has %u", to->warp, c->warps);
	} else if (to->lane >= WARP_LANES || !(machine_lanes(c, to->warp) >> to->lane & 1)) {
		say_error(x, "There is no lane %u: warp %u has %u", to->lane, to->warp,
			  (u32)__builtin_popcount(machine_lanes(c, to->warp)));
	} else if (!(c->warp[to->warp].live >> to->lane & 1)) {
		if (c->warp[to->warp].live)
			say_error(x, "Lane %u of warp %u has exited", to->lane, to->warp);
		else
			say_error(x, "Warp %u has exited", to->warp);
	} else {
		return true;
	}
	return false;
}

bool focus_move(struct debugger *x, const struct focus *to)
{
	struct cta *c = debug_cta(x->grid, to->cta);
	bool near = x->focus.valid && to->cta == x->focus.cta && to->warp == x->focus.warp;

	if (!c) {
		say_absent_cta(x, to->cta);
		return false;
	}
	if (!lane_is_there(x, c, to))
		return false;
	x->focus = *to;
	x->focus.valid = true;
	x->focus.frame = frame_of_user(x, c, to->warp, to->lane, NULL);
	say_focus(x, !near);
	say_focus_place(x);
	return true;
}

/* The lane of a warp that gets the focus first: of what stopped, else of what goes on next. */
static u32 first_lane(struct debugger *x, const struct cta *c, u32 warp)
{
	struct look_group g[WARP_LANES + 1];
	u32 n = warp < c->warps && c->warp[warp].live ? look_groups(x, c, warp, g) : 0;

	return n ? (u32)__builtin_ctz(g[0].mask) : 0;
}

static void move_to_warp(struct debugger *x, struct focus to)
{
	struct cta *c = debug_cta(x->grid, to.cta);

	to.lane = c ? first_lane(x, c, to.warp) : 0;
	focus_move(x, &to);
}

static void move_to_cta(struct debugger *x, struct focus to)
{
	struct cta *c = debug_cta(x->grid, to.cta);

	to.warp = 0;
	while (c && to.warp + 1 < c->warps && !c->warp[to.warp].live)
		to.warp++;
	move_to_warp(x, to);
}

/* ---- arguments ---- */

/* A number, or a constant expression. */
static bool focus_number(struct debugger *x, const char *what, const char *text, u64 *out)
{
	struct dbg_context c;
	struct dbg_value v;
	struct dbg_number n;
	struct dbg_expr *e;
	struct text why = {0};
	bool good;

	context_now(x, &c);
	e = dbg_expr_parse(&c, text, &why);
	good = e && !dbg_expr_type(e) && dbg_expr_eval(e, &c, &v, &why) &&
	       dbg_value_number(&c, &v, &n, &why) && !n.is_float && (s64)n.bits >= 0;
	if (good)
		*out = n.bits;
	else
		say_error(x, "%s", why.len ? why.at : "That is not a number");
	(void)what;
	dbg_expr_free(e);
	text_fini(&why);
	return good;
}

/* "(1,2)", "1,2,0": how many; 0: not one of these. */
static u32 read_triple(const char *text, u32 out[3], const char **end)
{
	bool brace = *text == '(';
	const char *s = text + brace;
	u32 n = 0;

	out[0] = out[1] = out[2] = 0;
	for (;;) {
		char *stop;
		unsigned long value;

		while (*s == ' ')
			s++;
		if (!isdigit((u8)*s))
			return 0;
		value = strtoul(s, &stop, 0);
		if (n == 3 || value > UINT32_MAX)
			return 0;
		out[n++] = (u32)value;
		s = stop;
		while (*s == ' ' && s[strspn(s, " ")] == ',')
			s++;
		if (*s != ',')
			break;
		s++;
	}
	while (brace && *s == ' ')
		s++;
	if (brace && *s++ != ')')
		return 0;
	*end = s;
	return brace || n > 1 ? n : 0;
}

/* The linear number of an id within dims; false: it is outside. */
static bool linear(const u32 id[3], const u32 dims[3], u64 *out)
{
	for (u32 i = 0; i < 3; i++)
		if (id[i] >= (dims[i] ? dims[i] : 1))
			return false;
	*out = id[0] + (u64)dims[0] * (id[1] + (u64)(dims[1] ? dims[1] : 1) * id[2]);
	return true;
}

/* "(1,0,0)" or a linear number of `what`, of which there are dims. */
static bool focus_place(struct debugger *x, const char *what, const char *text, const u32 dims[3],
			u64 *out)
{
	const char *end;
	u32 id[3], n = read_triple(text, id, &end);
	struct text t = {0};

	if (!n || end[strspn(end, " ")])
		return focus_number(x, what, text, out);
	if (linear(id, dims, out))
		return true;
	look_say_id(id, &t);
	text_puts(&t, ": there are ");
	look_say_id(dims, &t);
	say_error(x, "There is no %s %s", what, t.at ? t.at : "");
	text_fini(&t);
	return false;
}

/* ---- commands ---- */

void command_lane(struct debugger *x, const struct call *c)
{
	struct focus to = x->focus;
	u64 n;

	if (!*c->args) {
		say_focus(x, true);
	} else if (focus_number(x, "lane", c->args, &n)) {
		to.lane = n < UINT32_MAX ? (u32)n : UINT32_MAX;
		focus_move(x, &to);
	}
}

void command_warp(struct debugger *x, const struct call *c)
{
	struct focus to = x->focus;
	u64 n;

	if (!*c->args) {
		say_focus(x, true);
	} else if (focus_number(x, "warp", c->args, &n)) {
		to.warp = n < UINT32_MAX ? (u32)n : UINT32_MAX;
		move_to_warp(x, to);
	}
}

void command_cta(struct debugger *x, const struct call *c)
{
	struct focus to = x->focus;

	if (!*c->args)
		say_focus(x, true);
	else if (focus_place(x, "CTA", c->args, debug_env(x->grid)->grid, &to.cta))
		move_to_cta(x, to);
}

/* The first CTA of a cluster, by the cluster's index or number. */
static bool focus_cluster(struct debugger *x, const char *text, u64 *cta)
{
	const struct exec_env *env = debug_env(x->grid);
	u32 dims[3], clusters[3];
	u64 n, id[3];

	if (look_cluster_dims(env, dims) < 2) {
		say_error(x, "The launch has no clusters");
		return false;
	}
	for (u32 i = 0; i < 3; i++)
		clusters[i] = env->grid[i] / dims[i];
	if (!focus_place(x, "cluster", text, clusters, &n))
		return false;
	id[0] = n % clusters[0];
	id[1] = n / clusters[0] % clusters[1];
	id[2] = n / clusters[0] / clusters[1];
	if (id[2] >= clusters[2]) {
		say_error(x, "There is no cluster %llu: the grid has %llu", (unsigned long long)n,
			  (unsigned long long)clusters[0] * clusters[1] * clusters[2]);
		return false;
	}
	*cta = id[0] * dims[0] +
	       env->grid[0] * (id[1] * dims[1] + (u64)env->grid[1] * (id[2] * dims[2]));
	return true;
}

void command_cluster(struct debugger *x, const struct call *c)
{
	struct focus to = x->focus;

	if (!*c->args)
		command_focus(x, c);
	else if (focus_cluster(x, c->args, &to.cta))
		move_to_cta(x, to);
}

static void focus_thread(struct debugger *x, struct focus to, u64 n)
{
	const u32 *b = debug_env(x->grid)->block;
	u64 threads = (u64)b[0] * b[1] * b[2];

	if (n >= threads) {
		say_error(x, "There is no thread %llu: the CTA has %llu", (unsigned long long)n,
			  (unsigned long long)threads);
		return;
	}
	to.warp = (u32)(n / WARP_LANES);
	to.lane = (u32)(n % WARP_LANES);
	focus_move(x, &to);
}

void command_thread(struct debugger *x, const struct call *c)
{
	u64 n;

	if (!*c->args)
		say_focus(x, true);
	else if (!strncmp(c->args, "apply ", 6) || !strncmp(c->args, "find ", 5))
		say_error(x,
			  "Commands are about one lane; print/lanes E and info lanes E show values "
			  "of all lanes of the warp");
	else if (focus_place(x, "thread", c->args, debug_env(x->grid)->block, &n))
		focus_thread(x, x->focus, n);
}

/* Launches run one at a time: it can only be the one that is there. */
void command_launch(struct debugger *x, const struct call *c)
{
	u64 n;

	if (!*c->args) {
		command_focus(x, c);
	} else if (focus_number(x, "launch", c->args, &n)) {
		if (n != x->launch)
			say_error(x, "Launch %llu is not running: launch %llu is",
				  (unsigned long long)n, (unsigned long long)x->launch);
		else
			command_focus(x, c);
	}
}

static u32 focus_device(const struct debugger *x)
{
	const struct program *p = debug_env(x->grid)->program;

	for (size_t i = 0; i < x->modules.len; i++)
		if (x->modules.at[i]->m == p->funcs[0].module)
			return x->modules.at[i]->owner->dev->number;
	return 0;
}

void command_device(struct debugger *x, const struct call *c)
{
	u32 at = focus_device(x);
	u64 n = at;

	if (*c->args && !focus_number(x, "device", c->args, &n))
		return;
	if (n != at)
		say_error(x, "Device %llu runs no launch: device %u does", (unsigned long long)n,
			  at);
	else
		say(x, "Device %u (%s)\n", at, debug_env(x->grid)->program->arch->name);
}

static u32 sm_of(const struct debugger *x, u64 cta)
{
	const struct arch *a = debug_env(x->grid)->program->arch;

	return (u32)(cta % (u64)(a->sms > 0 ? a->sms : 1));
}

void command_sm(struct debugger *x, const struct call *c)
{
	struct focus to = x->focus;
	struct cta *at;
	u64 n;

	if (!*c->args) {
		say(x, "SM %u\n", sm_of(x, x->focus.cta));
		return;
	}
	if (!focus_number(x, "SM", c->args, &n))
		return;
	for (u32 i = 0; (at = debug_resident(x->grid, i)); i++)
		if (sm_of(x, at->number) == n) {
			to.cta = at->number;
			move_to_cta(x, to);
			return;
		}
	say_error(x, "No CTA is resident on SM %llu", (unsigned long long)n);
}

/* ---- cuda-gdb's spelling: cuda kernel 1 block (1,0,0) thread 3 ---- */

enum coordinate {
	AT_DEVICE,
	AT_SM,
	AT_WARP,
	AT_LANE,
	AT_KERNEL,
	AT_GRID,
	AT_CLUSTER,
	AT_BLOCK,
	AT_THREAD,
	AT
};

static const char *const coordinates[AT] = {
	[AT_DEVICE] = "device", [AT_SM] = "sm",         [AT_WARP] = "warp",
	[AT_LANE] = "lane",     [AT_KERNEL] = "kernel", [AT_GRID] = "grid",
	[AT_BLOCK] = "block",   [AT_THREAD] = "thread", [AT_CLUSTER] = "cluster",
};

static enum coordinate coordinate_of(const char *word, size_t n)
{
	for (u32 i = 0; i < AT; i++)
		if (strlen(coordinates[i]) == n && !memcmp(coordinates[i], word, n))
			return (enum coordinate)i;
	return AT;
}

static void say_coordinate(struct debugger *x, enum coordinate what, struct text *out)
{
	const struct exec_env *env = debug_env(x->grid);
	u32 id[3];

	text_printf(out, "%s%s ", out->len ? ", " : "", coordinates[what]);
	switch (what) {
	case AT_DEVICE:
		text_printf(out, "%u", focus_device(x));
		break;
	case AT_SM:
		text_printf(out, "%u", sm_of(x, x->focus.cta));
		break;
	case AT_WARP:
		text_printf(out, "%u", x->focus.warp);
		break;
	case AT_LANE:
		text_printf(out, "%u", x->focus.lane);
		break;
	case AT_BLOCK:
		look_cta_id(env, x->focus.cta, id);
		look_say_id(id, out);
		break;
	case AT_CLUSTER:
		if (look_cluster_dims(env, id) > 1 && focus_cta(x)) {
			look_cluster_id(focus_cta(x), id);
			look_say_id(id, out);
		} else {
			text_puts(out, "none");
		}
		break;
	case AT_THREAD:
		machine_thread(env, x->focus.warp, x->focus.lane, id);
		look_say_id(id, out);
		break;
	default:
		text_printf(out, "%llu", (unsigned long long)x->focus.launch);
	}
}

/* What was asked for so far. */
struct cuda_focus {
	struct text said;
	bool has[AT];
	u64 value[AT];
};

static bool cuda_value(struct debugger *x, struct cuda_focus *f, enum coordinate what,
		       const char *text, size_t n)
{
	const struct exec_env *env = debug_env(x->grid);
	char *one = strndup(text, n);
	bool good = one != NULL;

	if (good && (what == AT_BLOCK || what == AT_THREAD))
		good = focus_place(x, what == AT_BLOCK ? "CTA" : "thread", one,
				   what == AT_BLOCK ? env->grid : env->block, &f->value[what]);
	else if (good && what == AT_CLUSTER)
		good = focus_cluster(x, one, &f->value[what]);
	else if (good)
		good = focus_number(x, coordinates[what], one, &f->value[what]);
	f->has[what] = true;
	free(one);
	return good;
}

static bool cuda_words(struct debugger *x, struct cuda_focus *f, const char *s)
{
	while (*s) {
		size_t n = strcspn(s, " \t("), len;
		enum coordinate what = coordinate_of(s, n);
		const char *at = s + n + strspn(s + n, " \t"), *end;
		u32 id[3];

		if (what == AT) {
			say_error(x,
				  "\"%.*s\" is not one of device, sm, warp, lane, kernel, grid, "
				  "cluster, block, thread",
				  (int)n, s);
			return false;
		}
		if (read_triple(at, id, &end))
			len = (size_t)(end - at);
		else
			len = isdigit((u8)*at) ? strcspn(at, " \t,") : 0;
		if (!len)
			say_coordinate(x, what, &f->said);
		else if (!cuda_value(x, f, what, at, len))
			return false;
		s = at + len;
		s += strspn(s, " \t,");
	}
	return true;
}

static void cuda_move(struct debugger *x, const struct cuda_focus *f)
{
	struct focus to = x->focus;

	if ((f->has[AT_DEVICE] && f->value[AT_DEVICE] != focus_device(x)) ||
	    (f->has[AT_KERNEL] && f->value[AT_KERNEL] != x->launch) ||
	    (f->has[AT_GRID] && f->value[AT_GRID] != x->launch)) {
		say_error(x, "Nothing runs there: launch %llu on device %u is all there is",
			  (unsigned long long)x->launch, focus_device(x));
		return;
	}
	/* A block's index counts in the grid, also with a cluster. */
	if (f->has[AT_BLOCK] || f->has[AT_CLUSTER])
		to.cta = f->value[f->has[AT_BLOCK] ? AT_BLOCK : AT_CLUSTER];
	if (f->has[AT_SM] && sm_of(x, to.cta) != f->value[AT_SM]) {
		struct cta *c;

		for (u32 i = 0; (c = debug_resident(x->grid, i)); i++)
			if (sm_of(x, c->number) == f->value[AT_SM])
				break;
		if (!c) {
			say_error(x, "No CTA is resident on SM %llu",
				  (unsigned long long)f->value[AT_SM]);
			return;
		}
		to.cta = c->number;
	}
	if (f->has[AT_WARP])
		to.warp = f->value[AT_WARP] < UINT32_MAX ? (u32)f->value[AT_WARP] : UINT32_MAX;
	if (f->has[AT_LANE])
		to.lane = f->value[AT_LANE] < UINT32_MAX ? (u32)f->value[AT_LANE] : UINT32_MAX;
	if (f->has[AT_THREAD])
		focus_thread(x, to, f->value[AT_THREAD]);
	else if (f->has[AT_LANE])
		focus_move(x, &to);
	else if (f->has[AT_WARP])
		move_to_warp(x, to);
	else if (f->has[AT_BLOCK] || f->has[AT_SM] || f->has[AT_CLUSTER])
		move_to_cta(x, to);
	else
		command_focus(x, &(struct call){"focus", "", "", false});
}

void command_cuda(struct debugger *x, const struct call *c)
{
	struct cuda_focus f = {0};
	bool asks = false;

	if (!*c->args) {
		say_error(
			x,
			"Which part of the focus? device, sm, warp, lane, kernel, grid, cluster, block, thread");
		return;
	}
	if (cuda_words(x, &f, c->args)) {
		for (u32 i = 0; i < AT; i++)
			asks |= f.has[i];
		if (asks)
			cuda_move(x, &f);
		else
			say(x, "%s\n", f.said.at ? f.said.at : "");
	}
	text_fini(&f.said);
}
