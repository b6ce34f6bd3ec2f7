# The programs of table.sh in one mode only: what make check-quick runs.
exec "${builddir:-.}/tests/progress/table" "2 workers"
