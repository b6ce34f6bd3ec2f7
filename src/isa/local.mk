# Sources of src/isa.
