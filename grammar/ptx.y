/*
 * PTX grammar: directives, declarations, statements, operands. No mnemonic is known here; the
 * instruction table decides what an opcode means. Actions only call build_*(), in grammar/build.h.
 * Source: PTX ISA "Syntax", "State Spaces, Types, and Variables", "Directives".
 */
%define api.pure full
%define api.prefix {ptx_yy}
%define api.token.prefix {TOK_}
%define api.location.type {struct diag_span}
%define parse.error custom
%define lr.default-reduction consistent
%locations
%expect 0
%param { void *scanner }
%parse-param { struct parse *p }

%code requires {
#include "grammar/build.h"
}

%code {
int ptx_yylex(PTX_YYSTYPE *value, struct diag_span *where, void *scanner);

/* Called when memory is out, or when a statement is too deep for the parser's stack. */
static void ptx_yyerror(struct diag_span *where, void *scanner, struct parse *p, const char *message)
{
	(void)scanner;
	/* What bison says of its stack, which has YYMAXDEPTH places. */
	build_syntax_error(p, *where, strcmp(message, "memory exhausted") ? message : "nested too deep");
}

#define YYLLOC_DEFAULT(Current, Rhs, N) \
	((Current) = (N) ? (struct diag_span){YYRHSLOC(Rhs, 1).begin, YYRHSLOC(Rhs, N).end} \
			 : (struct diag_span){YYRHSLOC(Rhs, 0).end, YYRHSLOC(Rhs, 0).end})
}

%union {
	struct str *str;
	struct build_value value;
	struct ir_operand op;
	u32 number;
}

%token <str> WORD "identifier" STRING "string" DOTWORD "directive"
%token <value> INT "integer" FLOAT "floating-point constant"
%token <number> TYPE "type" SPACE "state space" VECTOR "vector size" PERF "performance directive"
%token <number> PERF0 "function directive"
%token <number> LINKAGE "linkage directive"
%token VERSION ".version" TARGET ".target" ADDRESS_SIZE ".address_size" FILE ".file" LOC ".loc" SECTION ".section"
%token PRAGMA ".pragma" ENTRY ".entry" FUNC ".func" ALIAS ".alias" ALIGN ".align" ATTRIBUTE ".attribute"
%token PTR ".ptr" LANGUAGE ".language" MANAGED ".managed" UNIFIED ".unified"
%token BRANCHTARGETS ".branchtargets" CALLTARGETS ".calltargets" CALLPROTOTYPE ".callprototype"
%token SKIPPED "function body"
%token SHL "<<" SHR ">>" LE "<=" GE ">=" EQ "==" NE "!=" ANDAND "&&" OROR "||"

%type <value> expr unary
%type <op> operand plain other vector vector_item address address_item
%type <number> linkage vector_begin compound_begin
%type <str> name plus_name

/*
 * A pragma after a declaration without semicolon belongs to the declaration, and so does .language.
 */
%precedence NO_PRAGMA
%precedence PRAGMA LANGUAGE
%right '?' ':'
%left OROR
%left ANDAND
%left '|'
%left '^'
%left '&'
%left EQ NE
%left '<' '>' LE GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'

%%

module:
	items				{ build_end_module(p, @$); }
;

items:
	%empty
|	items item			{ if (build_stop(p)) YYABORT; }
;

item:
	VERSION FLOAT			{ build_version(p, @2); }
|	TARGET				{ build_target_begin(p, @1); }
	target_list			{ build_target_end(p, @$); }
|	ADDRESS_SIZE INT		{ build_address_size(p, $2, @$); }
|	file
|	loc
|	section
|	pragma
|	language
|	language ';'
|	linkage				{ build_linkage(p, $1, @1); }
	linked
|	ALIAS WORD ',' WORD ';'		{ build_alias(p, $2, $4, @$); }
|	error lost_item			{ yyerrok; build_recover_item(p); }
;

/* After a syntax error: up to the end of the declaration, or of the body that follows. */
lost_item:
	';'
|	'}'
|	'}' ';'
|	'{' lost_flat '}'
|	'{' lost_flat '}' ';'
|	'{' lost_block '}'
;

lost_statement:
	';'
|	'{' lost_flat '}' lost_flat ';'
|	'{' lost_block '}'
;

/* Without a semicolon: vectors, initial values. */
lost_flat:
	%empty
|	lost_flat lost
|	lost_flat '{' lost_flat '}'
;

/* With one: statements. */
lost_block:
	lost_flat ';' lost_statements
|	lost_flat '{' lost_block '}' lost_statements
;

lost_statements:
	%empty
|	lost_statements lost
|	lost_statements ';'
|	lost_statements '{' lost_statements '}'
;

lost:
	WORD | STRING | DOTWORD | INT | FLOAT | TYPE | SPACE | VECTOR | PERF | PERF0 | LINKAGE | VERSION | TARGET
|	ADDRESS_SIZE | FILE | LOC | SECTION | PRAGMA | ENTRY | FUNC | ALIAS | ALIGN | ATTRIBUTE | PTR | MANAGED
|	UNIFIED | LANGUAGE | BRANCHTARGETS | CALLTARGETS | CALLPROTOTYPE | SHL | SHR | LE | GE | EQ | NE | ANDAND
|	OROR
|	'-' | '+' | '*' | '/' | '%' | '&' | '|' | '^' | '~' | '!' | '<' | '>' | '=' | '?' | ':' | ',' | '(' | ')'
|	'[' | ']' | '@' | '_'
;

target_list:
	WORD				{ build_target(p, $1, @1); }
|	target_list ',' WORD		{ build_target(p, $3, @3); }
;

linkage:
	%empty				{ $$ = IR_LOCAL; }
|	LINKAGE				{ $$ = $1; }
;

linked:
	declaration ';'
|	ENTRY name			{ build_function_begin(p, true, @1); build_function_name(p, $2, @2); }
	parameters perfs function_end
|	FUNC				{ build_function_begin(p, false, @1); }
	attributes results name		{ build_function_name(p, $5, @5); }
	parameters perfs declared
;

/* ptxas wants no semicolon after a declaration of a function; that of a kernel needs one. */
declared:
	function_end
|	%empty %prec NO_PRAGMA		{ build_function_end(p, @$); }
;

name:
	WORD				{ $$ = $1; }
;

function_end:
	';'				{ build_function_end(p, @1); }
|	'{'				{ build_body_begin(p, @1); }
	statements '}'			{ build_body_end(p, @4); }
|	SKIPPED				{ build_body_skipped(p, @1); }
;

results:
	%empty
|	'(' ')'
|	'('				{ build_list_begin(p, BUILD_RESULTS); }
	parameter_list ')'		{ build_list_end(p); }
;

parameters:
	%empty
|	'(' ')'
|	'('				{ build_list_begin(p, BUILD_PARAMS); }
	parameter_list ')'		{ build_list_end(p); }
;

parameter_list:
	parameter
|	parameter_list ',' parameter
;

parameter:
	SPACE				{ build_decl_begin(p, $1, @1); }
	decl_attributes TYPE		{ build_decl_type(p, $4, @4); }
	pointer parameter_name dims	{ build_param(p, @7); }
;

parameter_name:
	WORD				{ build_declarator(p, $1, @1); }
|	'_'				{ build_declarator(p, NULL, @1); }
;

pointer:
	%empty
|	PTR				{ build_pointer(p, ISA_NONE); }
	pointer_align
|	PTR SPACE			{ build_pointer(p, $2); }
	pointer_align
|	PTR TYPE			{ build_opaque_pointer(p, $2, @$); }
	pointer_align
;

pointer_align:
	%empty
|	ALIGN INT			{ build_pointer_align(p, $2, @2); }
;

perfs:
	%empty
|	perfs perf
;

perf:
	PERF INT			{ build_perf(p, $1, @$); build_perf_value(p, 0, $2, @2); }
|	PERF INT ',' INT		{ build_perf(p, $1, @$); build_perf_value(p, 0, $2, @2);
					  build_perf_value(p, 1, $4, @4); }
|	PERF INT ',' INT ',' INT	{ build_perf(p, $1, @$); build_perf_value(p, 0, $2, @2);
					  build_perf_value(p, 1, $4, @4); build_perf_value(p, 2, $6, @6); }
|	PERF0				{ build_perf(p, $1, @1); }
|	pragma
|	language
;

/* Which language the code comes from: read, and of no use here. */
language:
	LANGUAGE			{ build_language(p, @1); }
	language_name
|	language ',' language_name
;

language_name:
	WORD | STRING | INT | FLOAT | DOTWORD
;

attributes:
	%empty
|	attributes attribute
;

attribute:
	ATTRIBUTE '(' attribute_list ')'
;

attribute_list:
	attribute_item
|	attribute_list ',' attribute_item
;

attribute_item:
	MANAGED				{ build_managed(p, @1); }
|	UNIFIED '(' INT ',' INT ')'	{ build_unified(p, $3, $5, @1); }
;

/* ---- variables ---- */

declaration:
	SPACE				{ build_decl_begin(p, $1, @1); }
	decl_attributes TYPE		{ build_decl_type(p, $4, @4); }
	pointer declarators
;

decl_attributes:
	%empty
|	decl_attributes ALIGN INT	{ build_align(p, $3, @3); }
|	decl_attributes VECTOR		{ build_vector(p, $2, @2); }
|	decl_attributes attribute
;

declarators:
	declarator
|	declarators ',' declarator
;

declarator:
	WORD				{ build_declarator(p, $1, @1); }
	declarator_tail
;

declarator_tail:
	'<' INT '>'			{ build_family(p, $2, @$); }
|	dims				{ build_variable(p, @$); }
|	dims '='			{ build_init_begin(p, @2); }
	initialiser			{ build_init_end(p, @$); build_variable(p, @$); }
;

dims:
	%empty
|	dims '[' ']'			{ build_dim(p, NULL, @$); }
|	dims '[' INT ']'		{ build_dim(p, &$3, @3); }
;

initialiser:
	init_value
|	'{'				{ build_init_open(p, @1); }
	init_list '}'			{ build_init_close(p, @4); }
|	'{' '}'				{ build_init_open(p, @1); build_init_close(p, @2); }
;

init_list:
	initialiser
|	init_list ',' initialiser
|	init_field
|	init_list ',' init_field
;

init_field:
	WORD '=' WORD			{ build_init_field(p, $1, $3, 0, @$); }
|	WORD '=' INT			{ build_init_field(p, $1, NULL, (s64)$3.bits, @$); }
;

init_value:
	expr				{ build_init_number(p, $1, @1); }
|	init_address			{ build_init_address(p, 0, @1); }
|	INT '(' init_address ')'	{ build_init_address(p, $1.bits, @$); }
|	INT '(' expr ')'		{ build_init_masked(p, $1.bits, $3, @$); }
;

init_address:
	WORD				{ build_address(p, $1, NULL, @1); }
|	WORD '+' expr			{ build_address(p, $1, &$3, @1); }
|	WORD '(' WORD ')'		{ build_generic(p, $1, $3, NULL, @$); }
|	WORD '(' WORD ')' '+' expr	{ build_generic(p, $1, $3, &$6, @$); }
;

/* ---- statements ---- */

statements:
	%empty
|	statements statement		{ if (build_stop(p)) YYABORT; }
;

statement:
	opcode ';'			{ build_insn_end(p, @1); }
|	opcode operand_list ';'		{ build_insn_end(p, (struct diag_span){@1.begin, @2.end}); }
|	guard opcode ';'		{ build_insn_end(p, (struct diag_span){@1.begin, @2.end}); }
|	guard opcode operand_list ';'	{ build_insn_end(p, (struct diag_span){@1.begin, @3.end}); }
|	label				{ build_label(p); }
|	label BRANCHTARGETS		{ build_table_begin(p, IR_BRANCH_TARGETS); }
	table_list ';'			{ build_table_end(p, @$); }
|	label CALLTARGETS		{ build_table_begin(p, IR_CALL_TARGETS); }
	table_list ';'			{ build_table_end(p, @$); }
|	label CALLPROTOTYPE		{ build_prototype_begin(p, @2); }
	results prototype_name parameters perfs ';'	{ build_prototype_end(p, @$); }
|	'{'				{ build_scope_begin(p, @1); }
	statements '}'			{ build_scope_end(p, @4); }
|	linkage_in_body declaration ';'
|	loc
|	file
|	pragma
|	error lost_statement		{ yyerrok; build_recover(p); }
;

prototype_name:
	'_'
|	WORD
;

linkage_in_body:
	%empty				{ build_linkage(p, IR_LOCAL, @$); }
|	LINKAGE				{ build_linkage(p, $1, @1); }
;

label:
	WORD ':'			{ build_label_name(p, $1, @1); }
;

table_list:
	table_item
|	table_list ',' table_item
;

table_item:
	WORD				{ build_table_item(p, $1, @1); }
|	WORD '<' INT '>'		{ build_table_range(p, $1, $3, @$); }
;

guard:
	'@' WORD			{ build_guard(p, $2, false, @2); }
|	'@' '!' WORD			{ build_guard(p, $3, true, @3); }
;

opcode:
	WORD				{ build_opcode(p, $1, @1); }
;

operand_list:
	operand_item
|	operand_list ',' operand_item
;

/* Plain names are most of all operands: they take the shortest way. */
operand_item:
	WORD				{ build_operand(p, build_name(p, $1, @1), @1, 0); }
|	other				{ build_operand(p, $1, @1, 0); }
|	expr				{ build_operand(p, build_constant(p, $1, @1), @1, 0); }
|	plain '|' plain			{ build_operand(p, $1, @1, 0); build_operand(p, $3, @3, IR_BAR); }
;

operand:
	plain				{ $$ = $1; }
|	expr				{ $$ = build_constant(p, $1, @1); }
;

/* Everything but constant expressions. */
plain:
	WORD				{ $$ = build_name(p, $1, @1); }
|	other				{ $$ = $1; }
;

other:
	'!' WORD			{ $$ = build_name(p, $2, @2); $$.flags |= IR_NOT; }
|	'-' WORD			{ $$ = build_name(p, $2, @2); $$.flags |= IR_NEG; }
|	WORD '+' expr			{ $$ = build_name_offset(p, $1, $3, @$); }
|	WORD '[' expr ']'		{ $$ = build_indexed(p, $1, $3, @$); }
|	'_'				{ $$ = build_sink(p); }
|	vector				{ $$ = $1; }
|	address				{ $$ = $1; }
|	address UNIFIED			{ $$ = build_unified_address(p, $1, @2); }
|	'(' ')'				{ $$ = build_vector_end(p, build_mark(p), IR_OP_LIST); }
|	'(' plain ')'			{ u32 mark = build_mark(p); build_push(p, $2, @2);
					  $$ = build_vector_end(p, mark, IR_OP_LIST); }
|	'(' operand ','			{ $<number>$ = build_mark(p); build_push(p, $2, @2); }
	argument_list ')'		{ $$ = build_vector_end(p, $<number>4, IR_OP_LIST); }
;

argument_list:
	operand				{ build_push(p, $1, @1); }
|	argument_list ',' operand	{ build_push(p, $3, @3); }
;

vector_begin:
	'{'				{ $$ = build_mark(p); }
;

vector_list:
	vector_item			{ build_push(p, $1, @1); }
|	vector_list ',' vector_item	{ build_push(p, $3, @3); }
;

vector_item:
	WORD				{ $$ = build_name(p, $1, @1); }
|	'_'				{ $$ = build_sink(p); }
|	expr				{ $$ = build_constant(p, $1, @1); }
;

vector:
	vector_begin vector_list '}'	{ $$ = build_vector_end(p, $1, IR_OP_VEC); }
;

address:
	'[' address_item ']'		{ $$ = build_address_end(p, $2, @2); }
|	compound_begin compound_list ']'	{ $$ = build_vector_end(p, $1, IR_OP_COMPOUND); }
;

compound_begin:
	'[' address_item ','		{ $$ = build_mark(p); build_push(p, $2, @2); }
;

compound_list:
	address_item			{ build_push(p, $1, @1); }
|	compound_list ',' address_item	{ build_push(p, $3, @3); }
;

address_item:
	WORD				{ $$ = build_base(p, $1, NULL, @1); }
|	WORD '+' expr			{ $$ = build_base(p, $1, &$3, @1); }
|	expr				{ $$ = build_base(p, NULL, &$1, @1); }
|	vector				{ $$ = $1; }
;

/* ---- constant expressions ---- */

expr:
	unary				{ $$ = $1; }
|	expr '+' expr			{ $$ = build_binary(p, '+', $1, $3, @$); }
|	expr '-' expr			{ $$ = build_binary(p, '-', $1, $3, @$); }
|	expr '*' expr			{ $$ = build_binary(p, '*', $1, $3, @$); }
|	expr '/' expr			{ $$ = build_binary(p, '/', $1, $3, @$); }
|	expr '%' expr			{ $$ = build_binary(p, '%', $1, $3, @$); }
|	expr '&' expr			{ $$ = build_binary(p, '&', $1, $3, @$); }
|	expr '|' expr			{ $$ = build_binary(p, '|', $1, $3, @$); }
|	expr '^' expr			{ $$ = build_binary(p, '^', $1, $3, @$); }
|	expr SHL expr			{ $$ = build_binary(p, TOK_SHL, $1, $3, @$); }
|	expr SHR expr			{ $$ = build_binary(p, TOK_SHR, $1, $3, @$); }
|	expr '<' expr			{ $$ = build_binary(p, '<', $1, $3, @$); }
|	expr '>' expr			{ $$ = build_binary(p, '>', $1, $3, @$); }
|	expr LE expr			{ $$ = build_binary(p, TOK_LE, $1, $3, @$); }
|	expr GE expr			{ $$ = build_binary(p, TOK_GE, $1, $3, @$); }
|	expr EQ expr			{ $$ = build_binary(p, TOK_EQ, $1, $3, @$); }
|	expr NE expr			{ $$ = build_binary(p, TOK_NE, $1, $3, @$); }
|	expr ANDAND expr		{ $$ = build_binary(p, TOK_ANDAND, $1, $3, @$); }
|	expr OROR expr			{ $$ = build_binary(p, TOK_OROR, $1, $3, @$); }
|	expr '?' expr ':' expr		{ $$ = build_conditional(p, $1, $3, $5, @$); }
;

unary:
	INT				{ $$ = $1; }
|	FLOAT				{ $$ = $1; }
|	'-' unary			{ $$ = build_unary(p, '-', $2, @$); }
|	'+' unary			{ $$ = build_unary(p, '+', $2, @$); }
|	'!' unary			{ $$ = build_unary(p, '!', $2, @$); }
|	'~' unary			{ $$ = build_unary(p, '~', $2, @$); }
|	'(' TYPE ')' unary		{ $$ = build_cast(p, $2, $4, @$); }
|	'(' expr ')'			{ $$ = $2; $$.paren = true; }
;

/* ---- debugging ---- */

file:
	FILE INT STRING				{ build_file(p, $2, $3, NULL, NULL, @$); }
|	FILE INT STRING ',' INT ',' INT		{ build_file(p, $2, $3, &$5, &$7, @$); }
;

loc:
	LOC INT INT INT				{ build_loc(p, $2, $3, $4, @1); }
	loc_tail
;

loc_tail:
	%empty
|	',' WORD plus_name				{ build_loc_function(p, $2, $3, @$); }
|	',' WORD plus_name ',' WORD INT INT INT	{ build_loc_function(p, $2, $3, @$);
						  build_loc_inlined(p, $5, $6, $7, $8, @$); }
;

plus_name:
	WORD				{ $$ = $1; p->name_offset = 0; }
|	WORD '+' INT			{ $$ = $1; p->name_offset = (s64)$3.bits; }
;

section:
	SECTION DOTWORD '{'		{ build_section(p, $2, @2); }
	section_items '}'		{ build_section_end(p); }
|	SECTION WORD '{'		{ build_section(p, $2, @2); }
	section_items '}'		{ build_section_end(p); }
;

section_items:
	%empty
|	section_items section_item
;

section_item:
	WORD ':'			{ build_section_label(p, $1, @1); }
|	TYPE				{ build_section_type(p, $1, @1); }
	section_list
;

section_list:
	section_value
|	section_list ',' section_value
;

section_value:
	expr				{ build_section_number(p, $1, @1); }
|	section_name			{ build_section_address(p, NULL, 0, @1); }
|	section_name '+' INT		{ build_section_address(p, NULL, (s64)$3.bits, @1); }
|	section_name '-' WORD		{ build_section_address(p, $3, 0, @1); }
;

section_name:
	WORD				{ p->section_name = $1; }
|	DOTWORD				{ p->section_name = $1; }
;

pragma:
	PRAGMA pragma_list ';'
;

pragma_list:
	STRING				{ build_pragma(p, $1, @1); }
|	pragma_list ',' STRING		{ build_pragma(p, $3, @3); }
;

%%

/* Characters have numbers that change with the grammar. */
static bool is_symbol(yysymbol_kind_t symbol, const char *name)
{
	return !strcmp(yysymbol_name(symbol), name);
}

static enum build_unexpected_kind kind_of(yysymbol_kind_t token)
{
	switch (token) {
	case YYSYMBOL_YYEOF: return BUILD_AT_END;
	case YYSYMBOL_WORD: return BUILD_WORD;
	case YYSYMBOL_DOTWORD: return BUILD_DIRECTIVE;
	case YYSYMBOL_VERSION:
	case YYSYMBOL_TARGET:
	case YYSYMBOL_ADDRESS_SIZE:
	case YYSYMBOL_ENTRY:
	case YYSYMBOL_FUNC:
	case YYSYMBOL_ALIAS: return BUILD_OUTSIDE;
	default: return is_symbol(token, "'}'") ? BUILD_CLOSING : BUILD_OTHER;
	}
}

/* That one is not of the text. */
static int without_skipped(yysymbol_kind_t *expected, int n)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (expected[i] != YYSYMBOL_SKIPPED)
			expected[kept++] = expected[i];
	return kept;
}

static int yyreport_syntax_error(const yypcontext_t *context, void *scanner, struct parse *p)
{
	yysymbol_kind_t expected[YYNTOKENS], token = yypcontext_token(context);
	int n = yypcontext_expected_tokens(context, expected, YYNTOKENS);
	struct build_unexpected u = {.where = *yypcontext_location(context), .kind = kind_of(token),
				     .name = yysymbol_name(token)};

	(void)scanner;
	n = without_skipped(expected, n);
	for (int i = 0; i < n; i++) {
		u.mark |= is_symbol(expected[i], "';'");
		u.comma |= is_symbol(expected[i], "','");
		u.type |= expected[i] == YYSYMBOL_TYPE;
		/* A long list does not help. */
		if (n <= 4)
			text_printf(&u.expected, "%s%s", i ? " or " : "", yysymbol_name(expected[i]));
	}
	build_unexpected(p, &u);
	text_fini(&u.expected);
	return 0;
}
