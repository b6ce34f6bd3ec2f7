# `ptxloom debug` on a terminal: the prompt, Ctrl-C and Ctrl-D, editing, completion, history.
. "${srcdir:-.}/tests/tap.sh"

command -v python3 >/dev/null 2>&1 || skip_rest "no python3"
fake="python3 $srcdir/tests/debug/fake.py"
HOME=$scratch/home
TERM=xterm
export HOME TERM
unset XDG_STATE_HOME NO_COLOR
mkdir "$HOME"

# typed DESCRIPTION COMMAND...: the steps of standard input (terminal.py) are done with the command.
typed()
{
	what=$1
	shift
	capture timeout 120 python3 "$srcdir/tests/debug/terminal.py" "$@"
	verdict $? "$what"
}

typed "commands are answered, Ctrl-C at the prompt is no end, Ctrl-D asks" ptxloom debug -- $fake interrupt <<'END'
expect \(ptxloom\) 
type echo hello\n
expect hello\n\(ptxloom\) 
keys echo lost
keys \x03
expect \(ptxloom\) 
type run
expect running
keys \x03
expect interrupted\n\(ptxloom\) 
keys \x03
expect \(ptxloom\) 
type alive
expect <alive>
type quit
expect y or n
type n
expect goes on
keys \x04
expect y or n
type y
status 0
END

typed "Ctrl-C again and again kills a program that does not answer" ptxloom debug -- $fake deaf <<'END'
expect \(ptxloom\) 
type run
expect running
keys \x03
keys \x03
expect does not answer
keys \x03
expect ended by SIGKILL
expect \(ptxloom\) 
keys \x04
status 0
END

typed "a program without CUDA has the terminal" ptxloom debug -- sh -c 'read line; echo "got $line"; stty -a' <<'END'
expect \(ptxloom\) 
type run
type some words
expect got some words
expect speed
expect exited normally
type quit
status 0
END

typed "a program that ends while the debugger asks" ptxloom debug -- $fake leave <<'END'
expect \(ptxloom\) 
type run
expect \(ptxloom\) 
keys \n
expect exited with status 5
type echo on\n
expect on
type quit
status 0
END

typed "run again asks" ptxloom debug -- $fake serve <<'END'
expect \(ptxloom\) 
type run
expect \(ptxloom\) 
type run
expect from the beginning\? \(y or n\) 
type n
expect not started again
type set confirm off
expect \(ptxloom\) 
type run
expect started again
expect \(ptxloom\) 
type quit
status 0
END

printf 'int one;\nint\ttwo;\nint three;\n' >"$scratch/source.cu"
typed "windows show the source and what commands print" \
	sh -c 'stty rows 24 cols 80; exec "$@"' - ptxloom debug -- $fake stand "$scratch/source.cu" <<'END'
expect \(ptxloom\) 
type layout src
expect No program is being run
type run
expect 1  int one;
expect =>    2  int +two;
expect src
type layout lanes
expect <info lanes>
type one
expect <one>
keys \n
expect <one>
type layout off
type shell stty size
expect 24 80
type layout nonsense
expect takes src, ptx, lanes or off
type quit
type y
status 0
END

if ! grep -q 'READLINE_LIBS = .*readline' "$bin/Makefile"; then
	skip_rest "no readline"
fi
typed "words are completed by the program's interpreter" ptxloom debug -- $fake serve <<'END'
expect \(ptxloom\) 
keys ech\t
keys tab\\n\n
expect tab
type run
expect \(ptxloom\) 
keys rea\t\t\t
expect reading +ready
keys y\n
expect <ready>
keys \x1b[A\n
expect <ready>
keys kill\ny\n
expect killed
type quit
status 0
END
skipping || grep -qx ready "$HOME/.local/state/ptxloom/debug-history"
ok $? "what was typed is kept"
typed "for the next session" ptxloom debug -- true <<'END'
expect \(ptxloom\) 
keys \x1b[A\x1b[A\x1b[A
expect ready
keys \x03
keys \x04
status 0
END
finish
