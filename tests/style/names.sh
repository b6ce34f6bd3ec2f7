# A static function has a name of its own, so that a debugger, a profile and grep mean one function by it.
# In these folders no name is that of another static function of the project.
folders="runtime src/api src/dev src/exec src/host src/lower src/mma"
folders="$folders src/base src/mem src/sched src/tools src/uop src/watch"
. "${srcdir:-.}/tests/tap.sh"

cd "$srcdir" || exit 1
srcdir=.

# static_functions: NAME FILE for each that a file on standard input defines or declares. By our style the name is in
# the line of `static` or, after a long type, in the next one. Objects with an initialiser are none.
static_functions()
{
	tr '\n' '\0' | xargs -0 awk '
		FNR == 1 { head = "" }
		head != "" { head = head " " $0 }
		/^static / { head = $0 }
		head == "" { next }
		head ~ /^[^(]*[;=]/ { head = ""; next }
		head ~ /\(/ {
			sub(/__attribute__\(\([^)]*\)\) */, "", head)
			sub(/\(.*/, "", head)
			if (match(head, /[A-Za-z_][A-Za-z_0-9]*$/) && substr(head, RSTART) !~ /^(VEC|_Alignas)$/)
				print substr(head, RSTART), FILENAME
			head = ""
		}' | sort -u
}

# namesakes FOLDERS: the names that a file of these folders shares with another one.
namesakes()
{
	awk -v folders="$1" '
		BEGIN { n = split(folders, folder, " ") }
		{
			files[$1] = files[$1] " " $2
			count[$1]++
			for (i = 1; i <= n; i++)
				if (index($2, folder[i] "/") == 1)
					ours[$1] = 1
		}
		END { for (name in count) if (count[name] > 1 && ours[name]) print name ":" files[name] }' | sort
}

sources '*.c' '*.h' '*.inc' '*.l' '*.y' | grep -E '^(src|grammar|runtime)/' | static_functions >"$scratch/functions"
ok "$([ "$(wc -l <"$scratch/functions")" -gt 2500 ]; echo $?)" "static functions were found"
empty "$(namesakes "$folders" <"$scratch/functions")" "no two static functions share a name"

# What judges the others is judged.
mkdir "$scratch/here" "$scratch/there"
cat >"$scratch/here/a.c" <<'END'
static int number(void)
{
}
static const char *
word(int n)
{
}
static int total = f(1);
END
cat >"$scratch/there/b.c" <<'END'
static u64 number(int n);
static int total = f(2);
static void word(void)
{
}
END
printf '%s\n' "$scratch/here/a.c" "$scratch/there/b.c" | static_functions >"$scratch/both"
ok "$([ "$(namesakes "$scratch/here" <"$scratch/both" | cut -d: -f1 | tr '\n' ' ')" = "number word " ]; echo $?)" \
	"namesakes are found"
ok "$([ -z "$(namesakes "$scratch/elsewhere" <"$scratch/both")" ]; echo $?)" "but not those of other folders"
finish
