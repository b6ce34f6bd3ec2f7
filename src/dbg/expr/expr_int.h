/*
 * Syntax trees of expressions. Private to expr*.c.
 */
#ifndef PL_EXPR_INT_H
#define PL_EXPR_INT_H

#include "src/base/arena.h"
#include "src/dbg/expr.h"

#define EXPR_DEPTH_MAX 200

enum expr_op {
	EXPR_VALUE,  /* constant: `value` */
	EXPR_TYPE,   /* type */
	EXPR_NAME,   /* text */
	EXPR_PTX,    /* %text: register or special register */
	EXPR_DOLLAR, /* $text */
	EXPR_KEPT,   /* $N or $$N: number, from_last */
	EXPR_MEMBER, /* a.text */
	EXPR_ARROW,
	EXPR_INDEX,
	EXPR_FOLLOW,
	EXPR_ADDRESS,
	EXPR_CAST,   /* (type)a; number 1: reinterpret_cast */
	EXPR_SIZEOF, /* a; number 1: alignof */
	EXPR_MINUS,
	EXPR_PLUS,
	EXPR_NOT,    /* ! */
	EXPR_FLIP,   /* ~ */
	EXPR_BEFORE, /* ++a, --a: number 1 or -1 */
	EXPR_AFTER,  /* a++, a-- */
	EXPR_BINARY, /* a sign b */
	EXPR_ASSIGN, /* a = b; sign: the operator of a compound one */
	EXPR_AND,
	EXPR_OR,
	EXPR_CHOOSE, /* a ? b : c */
	EXPR_COMMA,
	EXPR_REPEAT, /* a @ b */
	EXPR_CALL,   /* text(b ..) */
	EXPR_LIST,   /* an argument a, and those behind it: b */
};

/* Operators of EXPR_BINARY. */
enum expr_sign {
	SIGN_NONE,
	SIGN_ADD,
	SIGN_SUB,
	SIGN_MUL,
	SIGN_DIV,
	SIGN_REM,
	SIGN_SHL,
	SIGN_SHR,
	SIGN_AND,
	SIGN_OR,
	SIGN_XOR,
	SIGN_EQ,
	SIGN_NE,
	SIGN_LT,
	SIGN_GT,
	SIGN_LE,
	SIGN_GE,
	SIGN_MEMBER, /* .* and ->* */
};

struct expr_node {
	u8 op, sign;
	bool from_last;
	struct expr_node *a, *b, *c;
	const char *text, *file; /* EXPR_NAME: as of the token */
	struct dbg_type *type;
	s64 number;
	struct dbg_value value;
	/* EXPR_NAME: what was found last, and where. */
	struct dbg_place found_at;
	u32 found_inlined;
	bool found;
	bool by_lane; /* expr_lanes.c: not for several lanes at once */
	struct dbg_variable variable;
};

struct dbg_expr {
	struct arena arena;
	struct expr_node *root;
	bool calls;
	bool foreign; /* a name or type was found in another module than the context's */
	bool lanes_known, one_by_one; /* expr_lanes.c: whether it has side effects */
};

/* An evaluation of it. */
struct expr_evaluation {
	const struct dbg_context *c;
	struct text *why;
	struct dbg_expr *expr;
};

/* ---- expr_eval.c ---- */

bool expr_evaluate(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out);

/* ---- expr_lex.c ---- */

enum expr_token {
	TOKEN_END,
	TOKEN_INT,
	TOKEN_FLOAT,
	TOKEN_CHAR,
	TOKEN_STRING, /* text, length */
	TOKEN_NAME,   /* text */
	TOKEN_DOLLAR, /* text: after the $ */
	TOKEN_SIGN,   /* text: the operator */
	TOKEN_BAD,    /* text: why */
};

struct expr_lexer {
	const struct dbg_context *c;
	struct dbg_expr *expr;
	const char *start, *at; /* of the whole; after the token */
	const char *token;      /* where it begins */
	enum expr_token kind;
	const char *text;
	const char *file; /* TOKEN_NAME: 'file'::text; NULL: text alone */
	size_t length;
	struct dbg_value value; /* of a number or character */
};

void expr_next(struct expr_lexer *l);
/* The token is a %: read it as a register instead. False: it is not one. */
bool expr_register(struct expr_lexer *l);
static inline bool expr_is(const struct expr_lexer *l, const char *sign)
{
	return (l->kind == TOKEN_SIGN || l->kind == TOKEN_NAME) && !strcmp(l->text, sign);
}

/* ---- expr_type.c ---- */

/* Does a type begin at the token? */
bool expr_at_type(struct expr_lexer *l);
/* The type that the token alone names, where expr_at_type has said that one does; never NULL. */
struct dbg_type *expr_type_word(struct expr_lexer *l);
/* Read it; NULL with a message. */
struct dbg_type *expr_read_type(struct expr_lexer *l, struct text *why);

/* ---- expr_name.c ---- */

/* EXPR_NAME */
bool expr_name_value(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out);
/* EXPR_PTX: a register, or a special one. */
bool expr_ptx_value(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out);
/* EXPR_DOLLAR; $pc is the number of the instruction in its function; $r1 is %r1. */
bool expr_dollar_value(struct expr_evaluation *e, struct expr_node *n, struct dbg_value *out);

/* A special register, or threadIdx.x: what reads it, and the type that it has. */
struct expr_special {
	enum isa_sreg_id id;
	u32 part;
	struct dbg_type *type;
};

/* Is it one? */
bool expr_find_special(struct expr_evaluation *e, struct expr_node *n, struct expr_special *out);
/* The variable or register that EXPR_NAME or EXPR_PTX means; NULL: something else. */
const struct dbg_variable *expr_find_variable(struct expr_evaluation *e, struct expr_node *n);

/* ---- expr_arith.c ---- */

bool expr_binary(const struct dbg_context *c, enum expr_sign sign, const struct dbg_value *a,
		 const struct dbg_value *b, struct dbg_value *out, struct text *why);
/* The same for numbers of types, which are stripped. */
bool expr_numbers(enum expr_sign sign, struct dbg_type *ta, const struct dbg_number *a,
		  struct dbg_type *tb, const struct dbg_number *b, struct dbg_type **type,
		  struct dbg_number *out, struct text *why);
bool expr_number(enum expr_op op, struct dbg_type *t, const struct dbg_number *a,
		 struct dbg_type **type, struct dbg_number *out, struct text *why);
bool expr_unary(const struct dbg_context *c, enum expr_op op, const struct dbg_value *a,
		struct dbg_value *out, struct text *why);

#endif
