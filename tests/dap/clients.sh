# `ptxloom dap` with the clients of editors: Neovim's nvim-dap, Emacs's dap-mode. What is not installed is skipped.
# Debian: neovim; emacs-nox and elpa-dap-mode. nvim-dap is looked for where Neovim finds packages, or in $NVIM_DAP.
. "${srcdir:-.}/tests/tap.sh"

for program in diverge fault spin; do
	if ! ptxloom cc -G "$top/tests/debug/$program.cu" -o "$scratch/$program" 2>"$scratch/err"; then
		skip "sessions of editors" "no CUDA C++ can be compiled here: $(head -n 1 "$scratch/err")"
		finish
	fi
done
PTXLOOM=$bin/ptxloom PROGRAMS=$scratch SOURCES=$top/tests/debug
export PTXLOOM PROGRAMS SOURCES

# sessions NAME STATUS: what a client has written to $scratch/sessions.
sessions()
{
	sed "s/^\(\(not \)\{0,1\}ok\) [0-9]*/\1/" "$scratch/sessions"
	tap_count=$((tap_count + $(grep -c '^\(not \)\{0,1\}ok ' "$scratch/sessions")))
	ok "$2" "the sessions of $1 end well"
	[ "$2" -eq 0 ] || sed 's/^/# /' "$scratch/err" | tail -n 20
}

nvim_starts()
{
	XDG_CACHE_HOME=$scratch/cache XDG_STATE_HOME=$scratch/state timeout 300 nvim --headless -u NONE -i NONE \
		--cmd "let &runtimepath = empty(\$NVIM_DAP) ? &runtimepath : \$NVIM_DAP .. ',' .. &runtimepath" \
		-c 'silent! packadd nvim-dap' "$@" </dev/null >"$scratch/err" 2>&1
}

if ! command -v nvim >/dev/null; then
	skip "sessions of nvim-dap" "there is no nvim"
elif ! nvim_starts -c "lua vim.cmd(pcall(require, 'dap') and 'qall!' or 'cquit!')"; then
	skip "sessions of nvim-dap" "nvim has no nvim-dap: NVIM_DAP may name its folder"
else
	RESULTS=$scratch/sessions nvim_starts -c "luafile $top/tests/dap/nvim.lua"
	sessions nvim-dap $?
fi

if ! command -v emacs >/dev/null; then
	skip "sessions of dap-mode" "there is no emacs"
elif ! HOME=$scratch emacs --batch --eval "(require 'dap-mode)" >/dev/null 2>&1; then
	skip "sessions of dap-mode" "emacs has no dap-mode (elpa-dap-mode)"
else
	HOME=$scratch timeout 300 emacs --batch -l "$top/tests/dap/emacs.el" >"$scratch/sessions" 2>"$scratch/err"
	sessions dap-mode $?
fi
finish
