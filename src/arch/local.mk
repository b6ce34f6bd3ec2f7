# Sources of src/arch.
