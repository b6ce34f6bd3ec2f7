# What completion for bash, zsh and fish offers.
. "${srcdir:-.}/tests/tap.sh"
cd "$scratch" || exit 1
mkdir folder
touch kernel.ptx source.cu note.txt
# offers WORDS... -- EXPECTED: for a command line of these words, the last being completed, all of it in order.
offers()
{
	words=
	while [ "$1" != -- ]; do
		words="$words '$1'"
		shift
	done
	shift
	if ! command -v bash >/dev/null; then
		skip "$words in bash" "no bash"
		return
	fi
	got=$(bash -c ". '$top/share/completion/ptxloom.bash'
		compopt() { :; }
		COMP_WORDS=($words)
		COMP_CWORD=\$((\${#COMP_WORDS[@]} - 1))
		_ptxloom
		printf '%s\n' \"\${COMPREPLY[@]}\" | sort | tr '\n' ' '")
	[ "$got" = "$* " ]
	result=$?
	[ "$result" -eq 0 ] || echo "# got: $got"
	ok "$result" "$words: $*"
}

offers ptxloom ru -- run
# Which devices there are is theirs to say: what is offered are their names.
names=$(ptxloom devices | awk 'NR > 1 { print $1; for (i = NF; i > 1 && $i !~ /^(yes|no)$/; i--) print $i }' |
	grep '^v' | sort | tr '\n' ' ')
# shellcheck disable=SC2086
offers ptxloom run -d v -- $names
# shellcheck disable=SC2086
offers ptxloom exec --device v -- $names
# shellcheck disable=SC2086
offers ptxloom env -d v -- $names
# shellcheck disable=SC2046
offers ptxloom run -d t4,2xv -- $(for name in $names; do echo "t4,2x$name"; done)
offers ptxloom run --ch -- --check=
offers ptxloom run --check = '' -- api init leak mem race sync
offers ptxloom run --check = m -- mem
offers ptxloom run -d v100 ./note -- ./note.txt
offers ptxloom run true no -- note.txt
offers ptxloom cc '' -- folder source.cu
offers ptxloom lint '' -- folder kernel.ptx
offers ptxloom exec k -- kernel.ptx
offers ptxloom cc -arch = sm_7 -- sm_70 sm_75
offers ptxloom ls n -- note.txt
offers ptxloom cc -li -- -lineinfo

# fish_offers LINE EXPECTED: what fish offers for the last word of a line.
fish_offers()
{
	if ! command -v fish >/dev/null; then
		skip "$1 in fish" "no fish"
		return
	fi
	got=$(HOME=$scratch XDG_CONFIG_HOME=$scratch XDG_DATA_HOME=$scratch fish --no-config -c "
		source '$top/share/completion/ptxloom.fish'; complete -C '$1'" 2>&1 | cut -f1 | sort | tr '\n' ' ')
	empty "$([ "$got" = "$2 " ] || echo "$got")" "$1 in fish: $2"
}
fish_offers 'ptxloom ru' run
fish_offers 'ptxloom help li' lint
# shellcheck disable=SC2086
fish_offers 'ptxloom run -d v' "$(echo $names)"
listed=$(for name in $names; do echo "t4,2x$name"; done | sort | tr '\n' ' ')
fish_offers 'ptxloom env -d t4,2xv' "${listed% }"
fish_offers 'ptxloom run --ch' --check
fish_offers 'ptxloom run --check=' '--check=api --check=init --check=leak --check=mem --check=race --check=sync'
fish_offers 'ptxloom exec --tr' --trace
fish_offers 'ptxloom cc -li' -lineinfo
fish_offers 'ptxloom lint k' kernel.ptx

# zsh_offers LINE EXPECTED: an interactive zsh on a terminal of its own, whose compadd notes what it is given.
zsh_offers()
{
	if ! command -v zsh >/dev/null; then
		skip "$1 in zsh" "no zsh"
		return
	fi
	: >"$scratch/hits"
	timeout 60 zsh -f "$scratch/capture.zsh" "$top/share/completion" "$1" "$scratch/hits" >/dev/null 2>&1
	got=$(sed '/^$/d' "$scratch/hits" | sort -u | tr '\n' ' ')
	empty "$([ "$got" = "$2 " ] || echo "$got")" "$1 in zsh: $2"
}
cat >"$scratch/capture.zsh" <<'END'
zmodload zsh/zpty
export hits_file=$3
zpty z "TERM=dumb zsh -f -i"
zpty -w z "PS1=; fpath=($1 \$fpath)"
zpty -w z 'autoload -Uz compinit; compinit -D -u'
zpty -w z 'compadd() {
	local -a hits
	[[ " $* " == *" -"[OAD]" "* ]] && { builtin compadd "$@"; return }
	builtin compadd -A hits "$@"
	print -rl -- $hits >>$hits_file
	builtin compadd "$@"
}'
zpty -w z 'leave() { exit }; zle -N leave; bindkey "^I" list-choices "^X" leave'
zpty -w z 'print "<rea""dy>"'
while zpty -r z line; do [[ $line == *'<ready>'* ]] && break; done
zpty -w -n z "$2"$'\t'$'\x18'
while zpty -r z line; do :; done
END
zsh_offers 'ptxloom ru' run
zsh_offers 'ptxloom help li' lint
# shellcheck disable=SC2086
zsh_offers 'ptxloom run -d v' "$(echo $names)"
# shellcheck disable=SC2086
zsh_offers 'ptxloom env -d t4,2xv' "$(echo $names)"
zsh_offers 'ptxloom run --check=' 'api init leak mem race sync'
zsh_offers 'ptxloom exec --tr' --trace
zsh_offers 'ptxloom cc -li' -lineinfo
zsh_offers 'ptxloom lint k' kernel.ptx
finish
