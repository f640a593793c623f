# Standard errors of every running total, from build/reproduce/continual.csv (periods,way,report,stderr):
# twelve months, fifty-two weeks, a year of days, each on one budget.  A picture for doc/ is scripts/pictures.sh's.
set datafile separator ","
set terminal svg size 1500,620 font "sans,13" background "white"
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
csv = "build/reproduce/continual.csv"
ways = "optimum toeplitz tree_2 tree_4 tree_8 added split"
title_of(w) = w eq "optimum" ? "optimum (this project)" : w eq "toeplitz" ? "open end (this project)" : \
	w eq "added" ? "periods, added up" : w eq "split" ? "budget split" : \
	"tree, ".substr(w, 6, 6)." children"
color_of(w) = w eq "optimum" ? "#2060b0" : w eq "toeplitz" ? "#60a0e0" : w eq "added" ? "#808080" : w eq "split" ? "#b03030" : "#309050"
dash_of(w) = w eq "tree_4" ? 2 : w eq "tree_8" ? 4 : 1
pick(periods, w) = sprintf("<awk -F, -v way=%s 'BEGIN { sub(/_/, \" \", way) } $1 == %d && $2 == way' %s", w, periods, csv)
set output "build/reproduce/continual.svg"
set multiplot title "Running totals on one budget: the standard error of each report, a count on the whole budget being 1"
set logscale y
set yrange [0.9:25]
set ytics (1, 2, 3, 5, 10, 20)
do for [panel = 0:2] {
	periods = word("12 52 365", panel + 1) + 0
	set lmargin at screen 0.05 + 0.32 * panel
	set rmargin at screen 0.05 + 0.32 * panel + 0.28
	set tmargin at screen 0.86
	set bmargin at screen 0.34
	set title sprintf("%d periods", periods)
	set xrange [1:periods]
	set xlabel "report"
	set ylabel panel ? "" : "standard error"
	if (panel == 2) { set key at screen 0.85, 0.2 right top maxrows 2 noenhanced samplen 4 width 2 } else { unset key }
	plot for [w in ways] pick(periods, w) using 3:4 with lines lw (w eq "optimum" ? 3 : periods > 100 && w[1:4] eq "tree" ? 0.8 : 1.8) dt dash_of(w) lc rgb color_of(w) title title_of(w)
}
unset multiplot
unset output
