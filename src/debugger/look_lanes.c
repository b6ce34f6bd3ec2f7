/*
 * A value for each lane of the warp: print/lanes, info lanes.
 */
#include "src/debugger/look_value.h"

/* Values up to this long are printed side by side. */
#define LANES_WIDE 24
#define LANES_IN_ROW 8u
#define LINE_WIDE 100u
#define COLUMNS_MAX 32u

/* ---- values ---- */

/* The frame of the lane that is of the function in focus: the same one, else the innermost. */
static u32 same_function(struct debugger *x, const struct cta *c, u32 lane,
			 const struct frame *focus)
{
	u32 max = x->focus.frame + DBG_INLINE_MAX + 1, n, found;
	struct frame *all = calloc(max, sizeof(*all));

	n = all ? frames_of(x, c, x->focus.warp, lane, all, max) : 0;
	found = x->focus.frame;
	if (found >= n || strcmp(all[found].shown.function, focus->shown.function) != 0)
		for (found = 0; found < n; found++)
			if (!strcmp(all[found].shown.function, focus->shown.function))
				break;
	free(all);
	return found < n ? found : 0;
}

bool look_lane_context(struct debugger *x, u32 lane, struct dbg_context *out)
{
	struct focus f = x->focus;
	struct cta *c = focus_cta(x);
	struct frame at;

	if (!c || !(c->warp[f.warp].live >> lane & 1))
		return false;
	if (lane != f.lane && frame_at(x, c, f.warp, f.lane, f.frame, &at) && at.shown.function)
		f.frame = same_function(x, c, lane, &at);
	f.lane = lane;
	return context_of(x, &f, out);
}

/* "<not set yet>" is no value. */
static void drop_missing(struct lane_values *v, u32 lane)
{
	struct text *t = &v->at[lane];

	if (!(v->there >> lane & 1) || !t->len || t->at[0] != '<' || t->at[t->len - 1] != '>' ||
	    strpbrk(t->at, "{,"))
		return;
	if (!v->why.len)
		text_add(&v->why, t->at + 1, t->len - 2);
	t->len = 0;
	t->at[0] = 0;
	v->there &= ~(1u << lane);
}

bool look_lane_values(struct debugger *x, const char *text, const struct dbg_format *f, u32 lanes,
		      struct lane_values *out)
{
	struct dbg_context c;
	struct dbg_expr *e;

	*out = (struct lane_values){0};
	context_now(x, &c);
	e = dbg_expr_parse(&c, text, &out->why);
	if (e && dbg_expr_type(e))
		text_puts(&out->why, "Attempt to use a type name as an expression");
	if (!e || dbg_expr_type(e)) {
		dbg_expr_free(e);
		return false;
	}
	for (u32 l = 0; l < WARP_LANES; l++) {
		struct text why = {0};
		struct dbg_value v;

		if (!(lanes >> l & 1) || !look_lane_context(x, l, &c))
			continue;
		if (dbg_expr_eval(e, &c, &v, &why) && dbg_value_print(&c, &v, f, &out->at[l], &why))
			out->there |= 1u << l;
		drop_missing(out, l);
		if (!(out->there >> l & 1) && !out->why.len)
			text_puts(&out->why, why.at ? why.at : "no value");
		text_fini(&why);
	}
	dbg_expr_free(e);
	return true;
}

void look_lane_values_fini(struct lane_values *v)
{
	for (u32 l = 0; l < WARP_LANES; l++)
		text_fini(&v->at[l]);
	text_fini(&v->why);
}

static const char *lane_value(const struct lane_values *v, u32 lane, u32 live)
{
	if (v->there >> lane & 1)
		return v->at[lane].at ? v->at[lane].at : "";
	return live >> lane & 1 ? "?" : "-";
}

/* ---- print/lanes ---- */

static void say_side_by_side(struct debugger *x, const struct lane_values *v, u32 all, u32 live)
{
	size_t width = 1;
	u32 in_row = LANES_IN_ROW;

	for (u32 l = 0; l < WARP_LANES; l++)
		width = v->at[l].len > width ? v->at[l].len : width;
	while (in_row > 1 && in_row * (width + 2) + 2 > LINE_WIDE)
		in_row /= 2;
	for (u32 l = 0; l < WARP_LANES; l += in_row) {
		if (!(all >> l))
			break;
		say(x, "%2u:", l);
		for (u32 k = l; k < l + in_row && all >> k & 1; k++)
			say(x, "%s%*s", k == l ? " " : "  ", (int)width, lane_value(v, k, live));
		say(x, "\n");
	}
}

static void say_below(struct debugger *x, const struct lane_values *v, u32 all, u32 live)
{
	for (u32 l = 0; l < WARP_LANES && all >> l & 1;) {
		u32 lanes = 0, first = l;
		struct text t = {0};

		while (l < WARP_LANES && all >> l & 1 &&
		       !strcmp(lane_value(v, l, live), lane_value(v, first, live)))
			lanes |= 1u << l++;
		say_lanes(lanes, &t);
		say(x, "%s: %s\n", t.at ? t.at : "", lane_value(v, first, live));
		text_fini(&t);
	}
}

void look_print_lanes(struct debugger *x, const char *text, const struct dbg_format *f)
{
	struct cta *c = focus_cta(x);
	struct lane_values v;
	u32 all, live;
	bool wide = false;

	if (!c) {
		say_error(x, "There are no lanes: no kernel is running");
		return;
	}
	all = machine_lanes(c, x->focus.warp);
	live = c->warp[x->focus.warp].live;
	if (!look_lane_values(x, text, f, all, &v) || !v.there) {
		look_say_why(x, &v.why);
		look_lane_values_fini(&v);
		return;
	}
	for (u32 l = 0; l < WARP_LANES; l++)
		wide |= v.at[l].len > LANES_WIDE || (v.at[l].at && strchr(v.at[l].at, '\n'));
	if (wide)
		say_below(x, &v, all, live);
	else
		say_side_by_side(x, &v, all, live);
	if (all & live & ~v.there)
		say(x, "?: %s\n", v.why.at ? v.why.at : "no value");
	if (all & ~live)
		say(x, "-: has exited\n");
	look_lane_values_fini(&v);
}

/* ---- info lanes ---- */

/* Do values of lanes go up by one? */
static bool count_up(const struct lane_values *v, u32 lanes)
{
	long long last = 0;
	u32 n = 0;

	for (u32 l = 0; l < WARP_LANES; l++) {
		char *end;
		long long value;

		if (!(lanes >> l & 1))
			continue;
		if (!v->at[l].at)
			return false;
		value = strtoll(v->at[l].at, &end, 10);
		if (*end || (n && value != last + 1))
			return false;
		last = value;
		n++;
	}
	return n > 4;
}

/* The values of some lanes, in short: one that all have, "0 .. 31", "0 1 2 .. 9". */
static void say_values(const struct lane_values *v, u32 lanes, u32 live, struct text *out)
{
	u32 first = (u32)__builtin_ctz(lanes), last = 31 - (u32)__builtin_clz(lanes), n = 0;
	u32 count = (u32)__builtin_popcount(lanes);
	bool same = true;

	for (u32 l = 0; l < WARP_LANES; l++)
		if (lanes >> l & 1)
			same &= !strcmp(lane_value(v, l, live), lane_value(v, first, live));
	if (same) {
		text_puts(out, lane_value(v, first, live));
		return;
	}
	if (count_up(v, lanes)) {
		text_printf(out, "%s .. %s", lane_value(v, first, live), lane_value(v, last, live));
		return;
	}
	for (u32 l = 0; l < WARP_LANES; l++) {
		if (!(lanes >> l & 1))
			continue;
		if (count <= 4 || n < 3)
			text_printf(out, "%s%s", n ? " " : "", lane_value(v, l, live));
		n++;
	}
	if (count > 4)
		text_printf(out, " .. %s", lane_value(v, last, live));
}

/* Groups at one line in one state become one; returns how many are left. */
static u32 join_groups(struct look_group *g, u32 n)
{
	u32 len = 0;

	for (u32 i = 0; i < n; i++) {
		u32 k = 0;

		while (k < len &&
		       (g[k].stopped != g[i].stopped || (g[k].pc == NO_PC) != (g[i].pc == NO_PC) ||
			strcmp(g[k].state, g[i].state) != 0 ||
			!where_same_line(&g[k].where, &g[i].where)))
			k++;
		if (k < len)
			g[k].mask |= g[i].mask;
		else
			g[len++] = g[i];
	}
	return len;
}

/* A blank beside an operator that has blanks on both sides: "i + 1". */
static bool is_beside_operator(const char *text, const char *blank)
{
	static const char operators[] = "+-*/%<>=!&|^?:";
	const char *next = blank + strspn(blank, " \t"), *before = blank;
	size_t n = strspn(next, operators);

	if (n && (next[n] == ' ' || next[n] == '\t'))
		return true;
	while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
		before--;
	next = before;
	while (before > text && before[-1] && strchr(operators, before[-1]))
		before--;
	return before < next && before > text && (before[-1] == ' ' || before[-1] == '\t');
}

/* Cut a list of expressions: at commas if there are any, else at blanks, outside of brackets. */
static u32 split(char *text, char *out[COLUMNS_MAX])
{
	u32 depth = 0, n = 0;
	bool commas = false, begun = false;

	for (const char *s = text; *s; s++) {
		depth += *s == '(' || *s == '[' || *s == '{';
		depth -= depth && (*s == ')' || *s == ']' || *s == '}');
		commas |= !depth && *s == ',';
	}
	depth = 0;
	for (char *s = text; *s; s++) {
		bool blank = *s == ' ' || *s == '\t';

		depth += *s == '(' || *s == '[' || *s == '{';
		depth -= depth && (*s == ')' || *s == ']' || *s == '}');
		if (!depth && (commas ? *s == ',' : blank && !is_beside_operator(text, s))) {
			*s = 0;
			begun = false;
		} else if (!begun && !blank && n < COLUMNS_MAX) {
			out[n++] = s;
			begun = true;
		}
	}
	return n;
}

static void say_groups(struct debugger *x, const struct look_group *g, u32 n, char *const *column,
		       const struct lane_values *values, u32 columns, u32 live)
{
	struct table t;

	table_begin(&t, 4 + columns);
	table_put(&t, " ");
	table_put(&t, "lanes");
	table_put(&t, "mask");
	table_put(&t, "where");
	for (u32 i = 0; i < columns; i++)
		table_put(&t, "%s", column[i]);
	for (u32 i = 0; i < n; i++) {
		struct text *where;

		table_put(&t, "%s", g[i].mask >> x->focus.lane & 1 ? "*" : " ");
		say_lanes(g[i].mask, table_cell(&t));
		table_put(&t, "%08x", g[i].mask);
		where = table_cell(&t);
		if (g[i].pc != NO_PC)
			where_say(&g[i].where, where);
		if (*g[i].state)
			text_printf(where, "%s%s", where->len ? ", " : "", g[i].state);
		for (u32 k = 0; k < columns; k++)
			say_values(&values[k], g[i].mask, live, table_cell(&t));
	}
	table_say(x, &t);
	for (u32 i = 0; i < columns; i++)
		if (!values[i].there && values[i].why.len)
			say(x, "%s: %s\n", column[i], values[i].why.at);
}

void command_info_lanes(struct debugger *x, const struct call *c)
{
	struct cta *cta = focus_cta(x);
	struct look_group g[WARP_LANES + 1];
	struct lane_values *values = calloc(COLUMNS_MAX, sizeof(*values));
	char *text = strdup(c->args), *column[COLUMNS_MAX];
	u32 columns = text ? split(text, column) : 0, n, read = 0;
	struct look_format f;

	if (cta && values && look_read_format(x, c->format, &f)) {
		while (read < columns &&
		       look_lane_values(x, column[read], &f.f, FULL_MASK, &values[read]))
			read++;
		if (read < columns) {
			look_say_why(x, &values[read].why);
			look_lane_values_fini(&values[read]);
		} else {
			n = join_groups(g, look_groups(x, cta, x->focus.warp, g));
			say_groups(x, g, n, column, values, columns, cta->warp[x->focus.warp].live);
		}
	}
	for (u32 i = 0; i < read; i++)
		look_lane_values_fini(&values[i]);
	free(values);
	free(text);
}
