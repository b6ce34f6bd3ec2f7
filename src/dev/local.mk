# Sources of src/dev.
