#include "src/ir/ir.h"
void ir_dump_module(const struct ir_module *m, struct text *out) { (void)m; (void)out; }
void ir_print_module(const struct ir_module *m, struct text *out) { (void)m; (void)out; }
