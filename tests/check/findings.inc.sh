# findings FILE [CHECK]: those of a document, or of one check, without what depends on the order of threads: each one's
# check, kind, severity and lines.
findings()
{
	awk -v check="$2" '
	function word(key)
	{
		match($0, "\"" key "\": \"[^\"]*")
		return substr($0, RSTART + length(key) + 5, RLENGTH - length(key) - 5)
	}
	/^{"check":/ && (check == "" || word("check") == check) {
		head = word("check") " " word("kind") " " word("severity")
		sub(/.*"places": \[/, "")
		sub(/\], "host": .*/, "")
		n = split($0, part, /"line": /)
		low = high = part[2] + 0
		for (i = 3; i <= n; i++) {
			low = part[i] + 0 < low ? part[i] + 0 : low
			high = part[i] + 0 > high ? part[i] + 0 : high
		}
		print head, low "-" high
	}' "$1" | sort -u
}
