# Figures 1 to 3 of Han, Topcu and Pappas, from build/reproduce/piecewise_figures.csv
# (figure,d,m,c,max_change,iterations,method,mean,error,draws).  Above the mean objective, as in
# the paper, below its distance from the optimum; left a max_change at which there is something
# to learn, right one at which there is not.  Bars are two standard errors of the mean.
set datafile separator ","
set terminal svg size 1280,940 font "sans,13" background "white"
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
set bars 0.6
csv = "build/reproduce/piecewise_figures.csv"
draws = system(sprintf("awk -F, '$7 == \"subgradient\" { print $10; exit }' %s", csv))
bars = sprintf("\nmeans of %s draws, bars of two standard errors", draws)

# lines of a figure with this max_change and method; the optimum of the same d, m, c is put behind each
pick(figure, change, method) = sprintf("<awk -F, '$1 == %d && $5 == %s { at = $2 \",\" $3 \",\" $4; if ($7 == \"optimum\") least[at] = $8; if ($7 == \"%s\") print $0 \",\" least[at] }' %s", figure, change, method, csv)

all = "laplace_solution laplace_data_l2 laplace_data subgradient_last subgradient subgradient_zcdp25 exponential exponential_prior2"
title_of(m) = m eq "laplace_solution" ? "Laplace noise on the solution, projected" : \
	m eq "laplace_data_l2" ? "Laplace noise on the offsets, l2 ball (the paper's)" : \
	m eq "laplace_data" ? "Laplace noise on the offsets, maximum norm" : \
	m eq "subgradient_last" ? "subgradients, last point, not projected" : \
	m eq "subgradient" ? "subgradients, average, projected" : \
	m eq "subgradient_zcdp" ? "subgradients, average, (0.1, 1e-6) by zCDP" : \
	m eq "subgradient_zcdp25" ? "subgradients, average, (0.1, 1e-6) by zCDP" : \
	m eq "exponential" ? "exponential mechanism, exact" : \
	m eq "exponential_prior2" ? "exponential mechanism, exact, public prior 2" : \
	m eq "descent" ? "ordinary subgradients: no privacy" : \
	m eq "uniform" ? "subgradients of any row: the offsets ignored" : \
	m eq "public" ? "least without the offsets: nothing private used" : "true optimum"
color_of(m) = m eq "laplace_solution" ? "#906030" : \
	m eq "laplace_data_l2" || m eq "laplace_data" ? "#b03030" : \
	m eq "subgradient_last" || m eq "subgradient" ? "#309050" : \
	m eq "subgradient_zcdp" || m eq "subgradient_zcdp25" ? "#d09020" : \
	m eq "exponential" || m eq "exponential_prior2" ? "#2060b0" : \
	m eq "descent" ? "#2060b0" : m eq "uniform" ? "#9050b0" : "#404040"
# of two of one colour, the second is dashed
dash_of(m) = m eq "laplace_data_l2" || m eq "subgradient_last" || m eq "exponential_prior2" ? 2 : 1

do for [figure = 1:3] {
	x = figure == 1 ? 6 : figure == 2 ? 4 : 3
	names = figure == 1 ? "subgradient_last subgradient subgradient_zcdp uniform descent" : all
	set output sprintf("build/reproduce/piecewise_figure%d.svg", figure)
	set multiplot title figure == 1 ? "Minimising max_i (a_i'x + b_i) privately, epsilon = 0.1: the number k of subgradient steps (d = 2, m = 20, c = 5)".bars : \
		figure == 2 ? "Minimising max_i (a_i'x + b_i) privately, epsilon = 0.1: the size c of the box |x| ≤ c (d = 2, m = 20; 100 subgradient steps, 25 by zCDP)".bars : \
		"Minimising max_i (a_i'x + b_i) privately, epsilon = 0.1: the number m of functions (d = 2, c = 5; 100 subgradient steps, 25 by zCDP)".bars
	set logscale x
	if (figure == 1) { set xtics (5, 10, 25, 50, 100, 250, 500, 1000); set xrange [4.5:1100] }
	if (figure == 2) { set xtics (0.25, 0.5, 1, 2, 5, 10); set xrange [0.23:11] }
	if (figure == 3) { set xtics (5, 10, 20, 50, 100); set xrange [4.7:107] }
	do for [panel = 0:3] {
		change = panel % 2 == 0 ? "0.01" : "1"
		gap = panel >= 2
		set lmargin at screen 0.065 + 0.48 * (panel % 2)
		set rmargin at screen 0.50 + 0.48 * (panel % 2)
		set tmargin at screen gap ? 0.53 : 0.9
		set bmargin at screen gap ? 0.21 : 0.575
		set xlabel gap ? (figure == 1 ? "iterations k" : figure == 2 ? "half the width of the box, c" : "affine functions m") : ""
		if (gap) { set logscale y; set format y "%g" } else { unset logscale y }
		set ylabel panel % 2 ? "" : gap ? "mean of f(x) above its optimum" : "mean objective f(x)"
		set title gap ? "" : sprintf("each offset may move by %s%s", change, change eq "1" ? ", as much as they differ: too much to learn from" : "")
		if (panel == 3) { set key at screen 0.9,0.14 right top maxrows 5 width -4 noenhanced samplen 3 } else { unset key }
		plot for [m in names] pick(figure, change, m) using x:(gap ? column(8) - column(11) : column(8)):(2 * column(9)) with yerrorlines lw 2 dt dash_of(m) pt 7 ps 0.4 lc rgb color_of(m) title title_of(m), \
			pick(figure, change, "public") using x:(gap ? column(8) - column(11) : column(8)) with lines lw 2 dt 3 lc rgb "#404040" title title_of("public"), \
			pick(figure, change, "optimum") using x:(gap ? NaN : column(8)) with lines lw 2 dt 4 lc rgb "#c020c0" title title_of("optimum")
	}
	unset multiplot
	unset output
}
