# Compares metrics of launches with a table of what a GPU counted.
#
#   awk -f compare.awk [-v rows=1] TABLE RAW     RAW: a raw page of CSV, of the table's launches from `first` (0) on
#
# A line for each column: rows where either is not 0, how many are equal, how many differ by at most 4 or 5 %, and the
# column. rows=1: each row that differs by more, before them.
BEGIN { FS = "\t"; launches = 0 }
function near(x, y,   d) { d = x < y ? y - x : x - y; return d <= 4 || d <= 0.05 * x }
FNR == NR && /^@/ { columns = NF; for (i = 2; i <= NF; i++) name[i] = $i; next }
FNR == NR && /^#/ { next }
FNR == NR { what[launches] = $1; for (i = 2; i <= columns; i++) want[launches, i] = $i + 0; launches++; next }
!/^"/ { next }
{
	line = $0
	gsub(/^"|"$/, "", line)
	n = split(line, value, /","/)
}
/^"ID"/ { for (i = 1; i <= n; i++) { sub(/[.]sum$/, "", value[i]); at[value[i]] = i }; units = 1; next }
units { units = 0; next }
{
	launch = first + seen++
	for (i = 2; i <= columns; i++) {
		x = want[launch, i]
		known = name[i] in at
		y = known ? value[at[name[i]]] : 0
		gsub(/,/, "", y)
		y += 0
		if (!x && !y)
			continue
		any[i]++
		equal[i] += known && x == y
		close_to[i] += known && near(x, y)
		if (rows && !(known && near(x, y)))
			print what[launch] " " name[i] ": " x " on the GPU, " y " here"
	}
}
END {
	for (i = 2; i <= columns; i++)
		if (any[i])
			print any[i] "\t" equal[i] + 0 "\t" close_to[i] + 0 "\t" name[i]
}
