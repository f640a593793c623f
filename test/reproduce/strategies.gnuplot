# The figures of Yuan, Yang, Zhang and Hao, from build/reproduce/strategies.csv
# (experiment,workload,data,n,m,s,method,status,columns,rank,error,objective,bound,iterations,stopped,
# seconds,reached), strategies_trace_*.csv (iteration,seconds,gap,measure) and strategies_dawa.csv
# (data,n,m,method,delta,error,deviation,draws).  Methods have a mark each, so that they are told apart
# without colours; what is not there because it took too long is said in words.
set datafile separator ","
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
if (!exists("folder")) folder = "build/reproduce"
limit = system("echo ${LIMIT:-120}")
csv = folder."/strategies.csv"
kinds = "WDiscrete WRange WMarginal WRelated"

# ---- methods: name, mark, colour, dashes ----

all = "gaussian identity binary_tree hierarchical wavelet wavelet_levels adaptive_before adaptive smoothing lowrank coa optimal"
slow = "adaptive smoothing lowrank coa optimal"
title_of(m) = m eq "optimal" ? "optimum, certified (this project)" : \
	m eq "coa" ? "COA (the paper's)" : \
	m eq "lowrank" ? "low-rank mechanism (LRM)" : \
	m eq "smoothing" ? "exponential smoothing (ESM)" : \
	m eq "adaptive" ? "adaptive mechanism (AM), columns completed" : \
	m eq "adaptive_before" ? "adaptive mechanism, not completed" : \
	m eq "wavelet" ? "wavelet (WM)" : \
	m eq "wavelet_levels" ? "wavelet, levels weighted" : \
	m eq "hierarchical" ? "best tree of 2 to 16 children" : \
	m eq "binary_tree" ? "binary tree (HM)" : \
	m eq "identity" ? "every cell counted" : \
	m eq "dawa" ? "DAWA, delta = 0 (mean of draws, bars of two standard errors)" : "noise on every query (GM)"
color_of(m) = m eq "optimal" ? "#000000" : m eq "coa" ? "#2060b0" : m eq "lowrank" ? "#309050" : m eq "smoothing" ? "#b03030" : \
	m eq "adaptive" || m eq "adaptive_before" ? "#d09020" : m eq "wavelet" || m eq "wavelet_levels" ? "#9050b0" : \
	m eq "hierarchical" || m eq "binary_tree" ? "#906030" : m eq "dawa" ? "#b03030" : "#808080"
mark_of(m) = m eq "optimal" ? 7 : m eq "coa" ? 4 : m eq "lowrank" ? 8 : m eq "smoothing" ? 10 : m eq "adaptive" ? 12 : m eq "adaptive_before" ? 13 : \
	m eq "wavelet" ? 1 : m eq "wavelet_levels" ? 2 : m eq "hierarchical" ? 9 : m eq "binary_tree" ? 11 : m eq "identity" ? 3 : m eq "dawa" ? 5 : 14
dash_of(m) = m eq "coa" || m eq "adaptive_before" || m eq "wavelet_levels" || m eq "hierarchical" ? 2 : m eq "lowrank" ? 4 : 1
size_of(m) = m eq "optimal" ? 0.4 : m eq "coa" ? 1.1 : 0.7

# ---- points: x, error, root mean square error relative to the optimum's, seconds, stopped by its own rule ----

# s of WRelated where nothing else is said
usual = "($6 == 0 || $6 == int(0.4 * ($4 < $5 ? $4 : $5)))"
over_n(m) = sprintf("$5 == %d && %s", m, usual)
over_m(n) = sprintf("$4 == %d && %s", n, usual)
pick(experiment, kind, method, condition, x) = sprintf("<awk -F, -v name=%s 'BEGIN { before = sub(/_before$/, \"\", name) } $1 == \"%s\" && $2 == \"%s\" && $8 == \"finished\" && %s { at = $4 \",\" $5 \",\" $6; if ($7 == \"optimal\") least[at] = $12; if ($7 == name) { objective[at] = before ? $13 : $12; error[at] = $11 * objective[at] / $12; seconds[at] = $16; stopped[at] = $15 } } END { for (at in objective) { split(at, z, \",\"); print z[%d] \",\" error[at] \",\" (at in least ? sqrt(objective[at] / least[at]) : \"nan\") \",\" seconds[at] \",\" stopped[at] } }' %s | sort -t, -n", method, experiment, kind, condition, x, csv)
# a panel without any point, of a run that was stopped, has an axis all the same
points_of(experiment, kind, condition) = int(system(sprintf("awk -F, '$1 == \"%s\" && $2 == \"%s\" && $8 == \"finished\" && %s' %s | wc -l", experiment, kind, condition, csv)))
# words for what is not there: took too long, or has more columns than are solved for
missing(experiment, kind, condition, x, what) = system(sprintf("awk -F, '$1 == \"%s\" && $2 == \"%s\" && %s && $8 ~ /not finished|not tried/ && (!($7 in first) || $%d < first[$7]) { first[$7] = $%d } END { for (m in first) print m \" from %s = \" first[m] }' %s | sort", experiment, kind, condition, x, x, what, csv))
too_large(experiment, kind, condition) = int(system(sprintf("awk -F, '$1 == \"%s\" && $2 == \"%s\" && %s && $8 == \"too large\"' %s | wc -l", experiment, kind, condition, csv))) > 0
says(words, large) = (words eq "" ? "" : "not finished in ".limit." s:\n".words).(large ? (words eq "" ? "" : "\n")."solvers take at most 4096 columns" : "")

# ---- Figures 2 to 5 and 6 to 9: errors by cells and by queries; below, how far from the optimum ----

do for [figure in "cells queries"] {
	cells = figure eq "cells"
	condition = cells ? over_n(1024) : over_m(512)
	place = cells ? 1 : 2
	set terminal svg size 1720,1060 font "sans,13" background "white"
	set output folder."/strategies_".figure.".svg"
	set multiplot title (cells ? "Expected error of m = 1024 answers by the number n of cells" : "Expected error of m answers on n = 512 cells by their number").", (epsilon, delta) = (0.1, 0.0001)"
	set logscale x 2
	set logscale y
	set format y "10^{%T}"
	set format x "%.0f"
	if (cells) { set xrange [27:9700]; set xtics (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192) rotate by -45 } else { set xrange [27:9700]; set xtics (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192) rotate by -45 }
	do for [panel = 0:7] {
		kind = word(kinds, panel % 4 + 1)
		ratio = panel >= 4
		set lmargin at screen 0.045 + 0.243 * (panel % 4)
		set rmargin at screen 0.045 + 0.243 * (panel % 4) + 0.205
		set tmargin at screen ratio ? 0.535 : 0.92
		set bmargin at screen ratio ? 0.235 : 0.615
		set title ratio ? "" : kind
		set xlabel ratio ? (cells ? "cells n" : "queries m") : ""
		set ylabel panel % 4 ? "" : ratio ? "root mean squared error / optimum (below 12)" : "mean squared error of an answer"
		if (ratio) { set format y "%g"; set yrange [0.97:12]; set ytics (1, 1.1, 1.2, 1.5, 2, 3, 5, 10) } else { set format y "10^{%T}"; if (points_of("error", kind, condition) > 0) { set yrange [*:*] } else { set yrange [1:10] }; set ytics autofreq }
		words = missing("error", kind, condition, cells ? 4 : 5, cells ? "n" : "m")
		if (ratio) { set label 1 says(words, too_large("error", kind, condition)) at graph 0.03, 0.97 font "sans,11" noenhanced } else { unset label 1 }
		if (panel == 7) { set key at screen 0.97, 0.15 right top maxrows 4 noenhanced samplen 4 width -6 } else { unset key }
		plot for [m in all] pick("error", kind, m, condition, place) using 1:(ratio ? column(3) : column(2)) with linespoints lw 1.6 dt dash_of(m) pt mark_of(m) ps size_of(m) lc rgb color_of(m) title title_of(m)
	}
	unset multiplot
	unset output
	unset label 1
}

# ---- Figure 10: errors by rank ----

set terminal svg size 1200,760 font "sans,13" background "white"
set output folder."/strategies_rank.svg"
set multiplot title "Expected error on WRelated by its rank s, n = 512 cells, m = 1024 queries, (epsilon, delta) = (0.1, 0.0001)"
of_rank = "$4 == 512 && $5 == 1024"
unset logscale x
set xrange [0.05:1.05]
set xtics autofreq 0.1 norotate
set format x "%g"
set xlabel "rank s / n"
do for [panel = 0:1] {
	set lmargin at screen 0.075 + 0.48 * panel
	set rmargin at screen 0.48 + 0.48 * panel
	set tmargin at screen 0.9
	set bmargin at screen 0.31
	set title ""
	set ylabel panel ? "root mean squared error / optimum (below 12)" : "mean squared error of an answer"
	if (panel) { set format y "%g"; set yrange [0.97:12]; set ytics (1, 1.1, 1.2, 1.5, 2, 3, 5, 10) } else { set format y "10^{%T}"; if (points_of("error", "WRelated", of_rank) > 0) { set yrange [*:*] } else { set yrange [1:10] }; set ytics autofreq }
	if (panel) { set key at screen 0.97, 0.2 right top maxrows 4 noenhanced samplen 3 width -8 } else { unset key }
	plot for [m in all] pick("error", "WRelated", m, of_rank, 3) using (column(1) / 512):(panel ? column(3) : column(2)) with linespoints lw 1.6 dt dash_of(m) pt mark_of(m) ps size_of(m) lc rgb color_of(m) title title_of(m)
}
unset multiplot
unset output

# ---- Figure 1: convergence ----

dash_of_n(n) = n eq "256" ? 1 : 2
trace(kind, n, m) = sprintf("%s/strategies_trace_%s_%s_%s.csv", folder, kind, n, m)
there(file) = int(system(sprintf("test -f %s && echo 1 || echo 0", file)))
file_of(kind, n, m) = there(trace(kind, n, m)) ? trace(kind, n, m) : "/dev/null"
set terminal svg size 1720,900 font "sans,13" background "white"
set output folder."/strategies_convergence.svg"
set multiplot title "Convergence: how far the objective is above the optimum (what the optimum's solver shows is its own certificate), m = 1024 queries"
traced = "all_range ".kinds
set yrange [1e-9:20]
set ytics autofreq
set format y "10^{%T}"
set logscale x
do for [panel = 0:9] {
	kind = word(traced, panel % 5 + 1)
	by_time = panel >= 5
	set lmargin at screen 0.05 + 0.19 * (panel % 5)
	set rmargin at screen 0.05 + 0.19 * (panel % 5) + 0.165
	set tmargin at screen by_time ? 0.49 : 0.9
	set bmargin at screen by_time ? 0.18 : 0.59
	set title by_time ? "" : kind noenhanced
	if (by_time) { set xrange [1e-3:200]; set xtics autofreq; set format x "10^{%T}" } else { set xrange [0.8:110]; set xtics (1, 2, 5, 10, 20, 50, 100); set format x "%g" }
	set xlabel by_time ? "seconds of a processor" : "iteration, from 1"
	set ylabel panel % 5 ? "" : "objective / optimum - 1"
	if (panel == 9) { set key at screen 0.97, 0.1 right top maxrows 2 noenhanced samplen 5 width -6 } else { unset key }
	plot for [n in "256 1024"] file_of(kind, n, "coa") using (by_time ? column(2) : column(1) + 1):3 with linespoints lw 1.6 dt dash_of_n(n) pt (n eq "256" ? 4 : 5) ps 0.6 lc rgb color_of("coa") title "COA, n = ".n, \
		for [n in "256 1024"] file_of(kind, n, "coa") using (by_time ? NaN : column(1) + 1):4 with lines lw 1 dt dash_of_n(n) lc rgb "#80a0d0" title "COA's measure ||G - diag G|| / ||G||, n = ".n, \
		for [n in "256 1024"] file_of(kind, n, "optimal") using (by_time ? column(2) : column(1)):3 with linespoints lw 1.6 dt dash_of_n(n) pt (n eq "256" ? 6 : 7) ps 0.6 lc rgb "#000000" title "optimum's solver, n = ".n
}
unset multiplot
unset output

# ---- Figures 12, 13, 11: running time ----

set terminal svg size 1720,1240 font "sans,13" background "white"
set output folder."/strategies_time.svg"
set multiplot title "Running time, one thread: seconds of a processor"
set logscale x 2
set xrange [27:9700]
set xtics (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192) rotate by -45
set format x "%.0f"
set yrange [5e-5:200]
do for [panel = 0:11] {
	kind = word(kinds, panel % 4 + 1)
	row = panel / 4
	condition = row == 0 ? over_n(1024) : row == 1 ? over_n(2048) : over_m(1024)
	fixed = row == 0 ? "m = 1024 queries" : row == 1 ? "m = 2048 queries" : "n = 1024 cells"
	place = row == 2 ? 2 : 1
	set lmargin at screen 0.05 + 0.24 * (panel % 4)
	set rmargin at screen 0.05 + 0.24 * (panel % 4) + 0.205
	set tmargin at screen 0.94 - 0.285 * row
	set bmargin at screen 0.94 - 0.285 * row - 0.205
	set title kind.", ".fixed
	set xlabel row == 2 ? "queries m" : "cells n" offset 0,0.5
	set ylabel panel % 4 ? "" : "seconds"
	words = missing("time", kind, condition, row == 2 ? 5 : 4, row == 2 ? "m" : "n")
	set label 1 says(words, too_large("time", kind, condition)) at graph 0.99, 0.36 right font "sans,11" noenhanced
	if (panel == 11) { set key at screen 0.97, 0.08 right top maxrows 2 noenhanced samplen 5 width -4 } else { unset key }
	plot for [m in slow] pick("time", kind, m, condition, place) using 1:4 with linespoints lw 1.6 dt dash_of(m) pt mark_of(m) ps size_of(m) lc rgb color_of(m) title title_of(m)
}
unset multiplot
unset output
unset label 1

# ---- Figure 14: against dawa ----

dawa = folder."/strategies_dawa.csv"
of_delta(m, delta, fixed, at, x) = sprintf("<awk -F, '$4 == \"%s\" && $5 == %s && $%d == %d { print $%d \",\" $6 }' %s | sort -t, -n", m, delta, fixed, at, x, dawa)
of_data(data, fixed, at, x) = sprintf("<awk -F, '$1 == \"%s\" && $4 == \"dawa\" && $%d == %d { print $%d \",\" $6 \",\" $7 }' %s | sort -t, -n", data, fixed, at, x, dawa)
mark_of_delta(d) = d eq "0.01" ? 4 : d eq "0.001" ? 6 : d eq "0.0001" ? 8 : 12
set terminal svg size 1720,900 font "sans,13" background "white"
set output folder."/strategies_dawa.svg"
set multiplot title "WRange, epsilon = 0.1: strategies under (epsilon, delta), whose error does not depend on the data, against DAWA, which looks at the data, under delta = 0"
if (int(system(sprintf("wc -l < %s", dawa))) > 1) { set yrange [*:*] } else { set yrange [1:10] }
do for [panel = 0:7] {
	data = word("searchlogs nettrace adult uniform", panel % 4 + 1)
	cells = panel < 4
	set lmargin at screen 0.05 + 0.24 * (panel % 4)
	set rmargin at screen 0.05 + 0.24 * (panel % 4) + 0.205
	set tmargin at screen cells ? 0.91 : 0.5
	set bmargin at screen cells ? 0.6 : 0.19
	set title (data eq "searchlogs" ? "search log" : data eq "nettrace" ? "net trace" : data eq "adult" ? "Adult" : "uniform from 0 to 10").(cells ? ", m = 1024 queries" : ", n = 1024 cells")
	set xlabel cells ? "cells n" : "queries m"
	set ylabel panel % 4 ? "" : "mean squared error of an answer"
	if (panel == 7) { set key at screen 0.97, 0.12 right top maxrows 4 noenhanced samplen 5 width -6 } else { unset key }
	plot of_data(data, cells ? 3 : 2, 1024, cells ? 2 : 3) using 1:2:(2 * column(3)) with yerrorlines lw 2 pt mark_of("dawa") ps 0.8 lc rgb color_of("dawa") title title_of("dawa"), \
		for [d in "0.01 0.001 0.0001 1e-05"] of_delta("optimal", d, cells ? 3 : 2, 1024, cells ? 2 : 3) using 1:2 with linespoints lw 1.4 pt mark_of_delta(d) ps 0.5 lc rgb "#000000" title "optimum, delta = ".d, \
		for [d in "0.01 0.001 0.0001 1e-05"] of_delta("coa", d, cells ? 3 : 2, 1024, cells ? 2 : 3) using 1:2 with linespoints lw 1.2 dt 2 pt mark_of_delta(d) ps 1.1 lc rgb color_of("coa") title "COA, delta = ".d
}
unset multiplot
unset output
