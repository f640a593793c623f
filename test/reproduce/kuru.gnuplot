# Figures 3 and 4 of Kuru et al.: the mean of F(x_t) - F* along the way, from
# build/reproduce/kuru.csv (noise,m,c,T,alg,t,mean_subopt).  One picture for every noise and
# batch, c = .1 above and 1 below, a column for every method, a line for every T.
set datafile separator ","
set terminal svg size 1500,560 font "sans,11" background "white"
set logscale y 10
set logscale x 10
set xrange [1:1000]
set format y "10^{%T}"
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
csv = "build/reproduce/kuru.csv"
methods = "DP-GD DP-HB DP-NAG DP-MASG DP-NAG-opt DP-MASG-opt"
color(T) = T == 100 ? "#b03030" : T == 200 ? "#d09020" : T == 500 ? "#309050" : "#2060b0"
pick(noise, m, c, alg, T) = sprintf("<awk -F, '$1 == \"%s\" && $2 == %d && $3 == %s && $4 == %d && $5 == \"%s\"' %s", noise, m, c, T, alg, csv)

do for [part = 1:3] {
	noise = part == 2 ? "gauss" : "lap"
	m = part == 3 ? 1000 : 100000
	if (int(system(sprintf("awk -F, '$1 == \"%s\" && $2 == %d' %s | wc -l", noise, m, csv))) > 0) {
		set output sprintf("build/reproduce/kuru_%s_%d.svg", noise, m)
		set multiplot layout 2,6 title (noise eq "lap" ? "epsilon = 1, Laplace noise, " : "rho of (1, 1e-6), Gaussian noise, ") . sprintf("m = %d: F(x_t) - F*, c = 0.1 above, c = 1 below", m)
		do for [row = 1:2] {
			c = row == 1 ? "0.1" : "1"
			do for [i = 1:6] {
				set title word(methods, i)
				if (i > 1 || row > 1) { unset key } else { set key bottom left }
				set yrange [(noise eq "lap" ? 1e-3 : 1e-5):200]
				plot for [T in "100 200 500 1000"] pick(noise, m, c, word(methods, i), int(T)) using 6:7 with lines lw 1.5 lc rgb color(int(T)) title "T = ".T
			}
		}
		unset multiplot
		unset output
	}
}
