# Sources of src/ir.
