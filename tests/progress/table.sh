# Every program whose threads wait for each other, in every mode of the engine: table.c.
exec "${builddir:-.}/tests/progress/table"
