# Sizes of files and functions, line length of code and documents, and the number of preprocessor conditionals.
. "${srcdir:-.}/tests/tap.sh"

file_hard=800
table_hard=1200
file_wished=600
function_hard=80
function_wished=40
parameters_wished=5
columns_hard=120
columns_code=100
columns_wished=100

cd "$srcdir" || exit 1
srcdir=.
code=$(sources '*.c' '*.h' '*.inc' '*.l' '*.y' '*.sh')

# sized LIMIT: of the files on standard input, those with more lines.
sized()
{
	tr '\n' '\0' | xargs -0 wc -l |
		awk -v n="$1" '$2 != "total" && $1 > n { print $2 ": " $1 " lines, at most " n }'
}

empty "$(echo "$code" | sized "$file_hard")" "no source file has more than $file_hard lines"
empty "$(sources '*.def' | sized "$table_hard")" "no table has more than $table_hard lines"
echo "$code" | sized "$file_wished" | sed 's/^/# wished: /'

# By our style a function's body opens and closes with a brace in column 1.
functions=$(echo "$code" | grep -E '\.(c|h|inc)$' | tr '\n' '\0' | xargs -0 awk '
	FNR == 1 { open = 0; head = "" }
	/^[{]/ && !open {
		open = FNR
		name = head
		sub(/^.*[ *]/, "", name)
		next
	}
	/^[}]/ && open {
		printf "%d %d %s:%d\n", FNR - open + 1, commas, FILENAME, open
		open = 0
	}
	!open {
		# The head is everything since the last line that ended something.
		if ($0 == "" || /[;}]$/ || /^#/ || /^\/?[ ]?\*/) {
			head = ""
			commas = 0
		} else {
			head = head $0
			text = $0
			commas += gsub(/,/, "", text)
		}
	}')
empty "$(echo "$functions" | awk -v n="$function_hard" '$1 > n { print $3 ": " $1 " lines, at most " n }')" \
	"no function has more than $function_hard lines"
echo "$functions" | awk -v n="$function_wished" '$1 > n' | wc -l |
	sed "s/^/# functions of more than $function_wished lines: /"
echo "$functions" | awk -v n="$parameters_wished" '$2 + 1 > n { print "# wished: at most " n " parameters: " $3 }'
ok "$([ "$(echo "$functions" | wc -l)" -gt 20 ]; echo $?)" "functions were found and measured"

# A name that occurs twice is one that neither a breakpoint nor a search finds. Variants in one file, by conditionals,
# are one function.
named=$(echo "$code" | grep -E '^(src|grammar|runtime)/.*\.[ch]$' | tr '\n' '\0' | xargs -0 awk '
	/^[{]/ && head ~ /^static/ && head !~ /HANDLER\(/ {
		gsub(/__attribute__\(\([^)]*\)+/, "", head)
		sub(/\(.*/, "", head)
		sub(/^.*[ *]/, "", head)
		print head, FILENAME
	}
	/^static/ { head = "" }
	{ head = /^[{}]/ ? "" : head $0 }' | sort -u)
empty "$(echo "$named" | awk '$1 == last { print last ": " file ", " $2 } { last = $1; file = $2 }')" \
	"no two static functions have one name"
ok "$([ "$(echo "$named" | wc -l)" -gt 3000 ]; echo $?)" "their names were found"

empty "$(echo "$code" | tr '\n' '\0' | xargs -0 awk -v n="$columns_hard" '
	{ gsub(/\t/, "        ") }
	length($0) > n { print FILENAME ":" FNR ": " length($0) " columns, at most " n }')" \
	"no line is wider than $columns_hard columns"
# What stands in strings does not count: PTX is clearer in lines of its own.
empty "$(echo "$code" | grep -E '\.[ch]$' | tr '\n' '\0' | xargs -0 awk -v n="$columns_code" '
	{
		gsub(/\t/, "        ")
		if (length($0) <= n)
			next
		gsub(/"([^"\\]|\\.)*"/, "\"\"")
		sub(/ *\\$/, "")
	}
	length($0) > n { print FILENAME ":" FNR ": " length($0) " columns, at most " n }')" \
	"no line of C is wider than $columns_code columns, but for strings"
echo "$code" | tr '\n' '\0' | xargs -0 awk -v n="$columns_wished" '
	{ gsub(/\t/, "        ") }
	length($0) > n { wide++ }
	END { print "# wider than " n " columns: " wide + 0 " of " NR " lines" }'
# Rows of tables, and commands with their output, are as wide as they are.
documents=$(all_files | grep '\.md$')
empty "$(echo "$documents" | tr '\n' '\0' | xargs -0 awk -v n="$columns_wished" '
	FNR == 1 { inside = 0 }
	/^```/ { inside = !inside }
	!inside && !/^\|/ && length($0) > n { print FILENAME ":" FNR ": " length($0) " columns, at most " n }')" \
	"no text of a document is wider than $columns_wished columns"
empty "$(echo "$code" | tr '\n' '\0' | xargs -0 grep -nE '[ 	]+$|^ {8}' /dev/null |
	grep -vE '\.(sh|l|y):|: +\\$')" "tabs indent, and nothing trails"

# Include guards are not conditionals.
conditionals=$(sources '*.c' '*.h' '*.inc' | grep '^src/' | tr '\n' '\0' |
	xargs -0 grep -nE '^[ 	]*#[ 	]*if' /dev/null | grep -vE '#ifndef PL_[A-Z0-9_]+_H$|__cplusplus')
lines=$(sources '*.c' '*.h' '*.inc' | grep '^src/' | tr '\n' '\0' | xargs -0 cat | wc -l)
count=$(echo "$conditionals" | grep -c .)
# Two for each thousand lines, and one thousand begun counts.
budget=$((2 * (lines / 1000 + 1)))
[ "$count" -le "$budget" ] || echo "$conditionals" | sed 's/^/# /'
ok "$([ "$count" -le "$budget" ]; echo $?)" \
	"$count preprocessor conditionals in $lines lines of src, at most $budget"
inside=$(sources '*.c' '*.h' '*.inc' | grep -E '^(src|runtime)/' | tr '\n' '\0' | xargs -0 awk '
	FNR == 1 { open = 0 }
	/^[{]/ { open = 1 }
	/^[}]/ { open = 0 }
	open && /^[ \t]*#[ \t]*if/ { print FILENAME ":" FNR ": " $0 }')
empty "$inside" "no preprocessor conditional inside a function"
finish
