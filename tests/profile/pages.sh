# Pages of ptxloom profile besides those of ncu: HTML, annotated sources, the format of callgrind; and comparisons.
. "${srcdir:-.}/tests/tap.sh"
cd "$srcdir" || exit 1

exec="ptxloom exec tests/profile/counts.ptx -d h100"
strided="$exec --kernel strided --grid 1 --block 64 --buffer in:u32[4096]=iota --buffer out:u32[4096]"
report=$scratch/report
status 0 ptxloom profile -o "$report" $strided --arg u32=8
status 0 ptxloom profile -o "$scratch/near" $strided --arg u32=1

# ---- annotated sources ----

status 0 ptxloom profile -i "$report" --page annotate
says out '^Events shown: +inst global_sectors global_excess shared_excess l1_miss l2_miss dram_sectors$'
says out '^ +32 \(100\.0%\) +72 \(100\.0%\) +56 \(100\.0%\) +\. .*PROGRAM TOTALS$'
says out '^ +2 \(  6\.2%\) +64 \( 88\.9%\) +56 \(100\.0%\) +\. .*	ld\.global\.u32 %r4, \[%rd4\];'
says out '^-- Annotated source file: tests/profile/counts.ptx$'
says out '^-- line 1 -+$'
status 0 ptxloom profile -i "$report" --page annotate --show global_excess,inst --sort global_excess --context 0
says out '^Events shown: +global_excess inst$'
says out '^Event sort order: global_excess$'
says out '^ +56 \(100\.0%\) +2 \(  6\.2%\)  	ld\.global'
status 0 ptxloom profile -i "$report" --page annotate --threshold 100 --sort divergent
empty "$(grep 'Annotated source' "$scratch/out" | grep -v counts.ptx)" "files of the threshold alone"
refused 2 "there is no event 'nonsense'; there are inst, threads" "an event that there is not" \
	ptxloom profile -i "$report" --page annotate --show nonsense
refused 2 "--threshold '101' is no percentage" "a threshold" ptxloom profile --threshold 101 true
refused 2 "--context '-1' is no number" "lines around" ptxloom profile --context -1 true

# ---- callgrind ----

status 0 ptxloom profile -i "$report" --page callgrind
is_line() { ok "$(grep -qxF "$1" "$scratch/out"; echo $?)" "there is the line: $1"; }
is_line "# callgrind format"
is_line "fl=tests/profile/counts.ptx"
is_line "fn=strided"
says out '^18 2 64 64 0 2 64 8 '
says out '^totals: 32 '
if command -v callgrind_annotate >/dev/null; then
	cp "$scratch/out" "$scratch/callgrind.out"
	status 0 callgrind_annotate --show=inst,global_excess "$scratch/callgrind.out"
	says out '^32 \(100\.0%\) +56 \(100\.0%\)  PROGRAM TOTALS$'
	says out 'counts.ptx:strided'
else
	skip "callgrind_annotate reads it" "there is none"
fi

# ---- HTML ----

# document FILE: what python3 finds wrong with it, then the number of reports, kernels, launches, and a count.
document()
{
	python3 - "$1" <<'END'
import json, re, sys
from html.parser import HTMLParser
text = open(sys.argv[1], encoding="utf-8").read()
class Page(HTMLParser):
    data, inside, wrong = "", False, []
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.inside = tag == "script" and a.get("type") == "application/json"
        if tag in ("link", "img", "iframe", "object", "embed") or "src" in a or "href" in a:
            self.wrong.append(tag)
    def handle_endtag(self, tag):
        self.inside = False
    def handle_data(self, data):
        if self.inside:
            self.data += data
page = Page()
page.feed(text)
rest = text.replace(page.data, "")
outside = re.findall(r"(?:https?:)?//[a-z][^\s\"']*|@import|url\((?!#)|fetch\(|XMLHttp|innerHTML", rest)
outside = [x for x in outside if not x.startswith("http://www.w3.org/2000/svg")]
d = json.loads(page.data)
r = d["reports"][0]
i = [m[0] for m in d["metrics"]].index("memory_l2_theoretical_sectors_global")
print(page.wrong, outside, len(d["reports"]), len(r["kernels"]), len(r["launches"]), r["launches"][0]["metrics"][i],
      r["kernels"][0]["shown"], "default-src 'none'" in text)
END
}
if command -v python3 >/dev/null; then
	status 0 ptxloom profile -i "$report" --page html --log-file "$scratch/one.html"
	document "$scratch/one.html" >"$scratch/got"
	is got "[] [] 1 1 1 72 strided True"
	status 0 ptxloom profile --diff "$report" "$scratch/near" --page html --log-file "$scratch/two.html"
	document "$scratch/two.html" >"$scratch/got"
	is got "[] [] 2 1 1 72 strided True"
	# Nothing that a program is called ends the element.
	sed 's,"name": "strided","name": "</script><b>strided",' "$report" >"$scratch/hostile"
	status 0 ptxloom profile -i "$scratch/hostile" --page html --log-file "$scratch/hostile.html"
	document "$scratch/hostile.html" >"$scratch/got"
	is got "[] [] 1 1 1 72 </script><b>strided True"
	# Of many launches those that do not fit have their numbers in the sums.
	for i in $(seq 600); do cat "$report"; done >"$scratch/many"
	status 0 ptxloom profile -i "$scratch/many" --page html --log-file "$scratch/many.html"
	ok "$([ "$(wc -c <"$scratch/many.html")" -lt 2000000 ]; echo $?)" "a large report makes no large page"
	document "$scratch/many.html" >"$scratch/got"
	is got "[] [] 1 1 600 72 strided True"
else
	skip "the page of HTML" "no python3"
fi
if command -v node >/dev/null; then
	sed -n '/^<script>$/,/^<\/script>$/p' "$scratch/one.html" | sed '1d;$d' >"$scratch/page.js"
	status 0 node --check "$scratch/page.js"
else
	skip "the script is JavaScript" "no node"
fi
finish
