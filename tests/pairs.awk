# A table of runs in which every two levels of different factors meet, and every case meets every level: pairwise
# testing. Input: lines "factor NAME LEVEL...", "case NAME", "never CASE LEVEL" for levels that a case cannot be run at,
# "apart LEVEL LEVEL" for levels that do not go together, the one of the earlier factor first.
# Output: for each run the case and one level of each factor, in the order of the factors, and last "missing N", the
# number of pairs that could be had and are not in the table.
# Levels need names of their own. Rows are chosen one after the other, each level for the pairs that it is the first to
# bring, those with the case before others.
$1 == "factor" {
	factor[++factors] = $2
	levels[factors] = NF - 2
	for (i = 3; i <= NF; i++)
		level[factors, i - 2] = $i
}
$1 == "case" { name[++cases] = $2 }
$1 == "never" { never[$2, $3] = 1 }
$1 == "apart" { apart[$2, $3] = 1 }

function met(a, b)
{
	return (a, b) in pairs
}

# What a level of factor f brings to the row of which the first f - 1 are chosen; of equal ones the rarest.
function gain(c, f, x,    g, n)
{
	n = met(c, x) ? 0 : 100
	for (g = 1; g < f; g++)
		n += met(row[g], x) ? -pairs[row[g], x] / 1e6 : 1
	return n
}

# Can a row of this case, of which the first f - 1 are chosen, have x?
function allowed(c, f, x,    g)
{
	if ((c, x) in never || (f in fixed && fixed[f] != x))
		return 0
	for (g = 1; g < f; g++)
		if ((row[g], x) in apart)
			return 0
	return 1
}

# 0: there is none.
function choose(c, f,    i, x, best, most)
{
	most = -9
	for (i = 1; i <= levels[f]; i++) {
		# Ties go to each level in turn.
		x = level[f, (i + turn[f]) % levels[f] + 1]
		if (!allowed(c, f, x))
			continue
		if (gain(c, f, x) > most) {
			most = gain(c, f, x)
			best = x
		}
	}
	turn[f]++
	row[f] = best
	return most > -9
}

# A row, if this case has one with the levels that are fixed.
function add(c,    f)
{
	for (f = 1; f <= factors; f++)
		if (!choose(c, f))
			return 0
	keep(c)
	return 1
}

# Two levels that no row has: with the first case that can.
function pair(g, y, f, x,    i)
{
	if (met(y, x) || (y, x) in apart)
		return 0
	fixed[g] = y
	fixed[f] = x
	for (i = 1; i <= cases && !met(y, x); i++)
		add(name[i])
	delete fixed[g]
	delete fixed[f]
	return !met(y, x)
}

function keep(c,    f, g, line)
{
	line = c
	for (f = 1; f <= factors; f++) {
		pairs[c, row[f]]++
		for (g = 1; g < f; g++)
			pairs[row[g], row[f]]++
		line = line " " row[f]
	}
	print line
}

function lacks(c,    f, i)
{
	for (f = 1; f <= factors; f++)
		for (i = 1; i <= levels[f]; i++)
			if (!((c, level[f, i]) in never) && !met(c, level[f, i]))
				return 1
	return 0
}

END {
	for (i = 1; i <= cases; i++)
		for (tries = 0; lacks(name[i]) && tries < 100; tries++)
			add(name[i])
	for (f = 1; f <= factors; f++)
		for (g = 1; g < f; g++)
			for (i = 1; i <= levels[f]; i++)
				for (j = 1; j <= levels[g]; j++)
					missing += pair(g, level[g, j], f, level[f, i])
	for (i = 1; i <= cases; i++)
		missing += lacks(name[i])
	print "missing", missing + 0
}
