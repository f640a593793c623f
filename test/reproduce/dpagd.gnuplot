# Figures 1 to 4 of Lee and Kifer, from build/reproduce/dpagd_parameters.csv
# (parameter,value,epsilon,accuracy,accuracy_sd,objective,objective_sd,runs,seconds) and dpagd_methods.csv
# (dataset,model,method,epsilon, and the same).  Bars are standard errors.
set datafile separator ","
set grid lc rgb "#dddddd"
set border 3
set tics nomirror
folder = "build/reproduce/"
parameters = folder."dpagd_parameters.csv"
methods = folder."dpagd_methods.csv"
rows(file, condition) = int(system(sprintf("awk -F, 'NR > 1 && %s' %s | wc -l", condition, file)))
pick(file, condition) = sprintf("<awk -F, '%s' %s", condition, file)

# ---- 1: what the parameters do, logistic regression on adult ----

of_parameter(name, epsilon) = pick(parameters, sprintf("$1 == \"%s\" && $3 == %s", name, epsilon))
color(epsilon) = epsilon eq "0.1" ? "#b03030" : epsilon eq "0.4" ? "#d09020" : "#2060b0"

if (rows(parameters, "1") > 0) {
	set terminal svg size 1400,640 font "sans,12" background "white"
	set output folder."dpagd_figure1.svg"
	set multiplot layout 2,4 title "DP-AGD on adult, logistic regression: splits, gamma, C_{grad}, C_{obj}"
	do for [what in "accuracy objective"] {
		do for [name in "splits gamma C_grad C_obj"] {
			column = what eq "accuracy" ? 4 : 6
			set title what." by ".name noenhanced
			if (what eq "objective" && name eq "splits") { set key top right } else { unset key }
			plot for [e in "0.1 0.4 1.6"] of_parameter(name, e) using 2:column:(column(column + 1) / sqrt(column(8))) with yerrorlines lw 1.5 pt 7 ps 0.4 lc rgb color(e) title "epsilon = ".e
		}
	}
	unset multiplot
	unset output
}

# ---- 2 to 4: methods ----

all = "agd agd_splits newton objpert outpert sgd sgd_adv privgene"
colors = "#2060b0 #70a0e0 #000000 #309050 #906030 #d09020 #e06060 #9050b0"
of_method(dataset, model, name) = pick(methods, sprintf("$1 == \"%s\" && $2 == \"%s\" && $3 == \"%s\"", dataset, model, name))
# a method without noise is a line over all epsilons
level(dataset, model, name, column) = sprintf("<awk -F, '$1 == \"%s\" && $2 == \"%s\" && $3 == \"%s\" { print \"0.05,\" $%d; print \"1.6,\" $%d }' %s", dataset, model, name, column, column, methods)
known(dataset, model, name) = rows(methods, sprintf("$1 == \"%s\" && $2 == \"%s\" && $3 == \"%s\"", dataset, model, name)) > 0
present(dataset, model) = system(sprintf("for m in %s; do awk -F, -v m=$m '$1 == \"%s\" && $2 == \"%s\" && $3 == m' %s | grep -q . && echo $m; done | xargs", all, dataset, model, methods))
index_of(name) = int(system(sprintf("echo %s | tr ' ' '\\n' | grep -nx %s | cut -d: -f1", all, name)))
color_of(name) = word(colors, index_of(name))

do for [figure = 2:4] {
	left = figure == 4 ? "kddcup99 logistic" : figure == 3 ? "adult svm" : "adult logistic"
	right = figure == 4 ? "kddcup99 svm" : figure == 3 ? "bank svm" : "bank logistic"
	if (known(word(left, 1), word(left, 2), "agd") && known(word(right, 1), word(right, 2), "agd")) {
		set terminal svg size 1200,840 font "sans,12" background "white"
		set output sprintf("%sdpagd_figure%d.svg", folder, figure)
		set multiplot layout 2,2
		set logscale x 2
		set xtics (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
		set xlabel "epsilon"
		do for [column in "5 7"] {
			do for [side in "left right"] {
				dataset = word(side eq "left" ? left : right, 1)
				model = word(side eq "left" ? left : right, 2)
				names = present(dataset, model)
				set title dataset.", ".model.": ".(column eq "5" ? "accuracy in percent" : "objective")
				if (column eq "7" && side eq "left") { set key top right noenhanced maxrows 5 } else { unset key }
				c = int(column)
				if (c == 5) {
					plot for [m in names] of_method(dataset, model, m) using 4:c:(column(c + 1) / sqrt(column(9))) with yerrorlines lw 1.5 pt 7 ps 0.4 lc rgb color_of(m) title m, \
						level(dataset, model, "nonprivate", c) using 1:2 with lines lw 1 dt 2 lc rgb "#404040" title "nonprivate", \
						level(dataset, model, "majority", c) using 1:2 with lines lw 1 dt 3 lc rgb "#404040" title "majority"
				} else {
					plot for [m in names] of_method(dataset, model, m) using 4:c:(column(c + 1) / sqrt(column(9))) with yerrorlines lw 1.5 pt 7 ps 0.4 lc rgb color_of(m) title m, \
						level(dataset, model, "nonprivate", c) using 1:2 with lines lw 1 dt 2 lc rgb "#404040" title "nonprivate", \
						NaN with lines lw 1 dt 3 lc rgb "#404040" title "majority"
				}
			}
		}
		unset multiplot
		unset output
		unset logscale
		set xtics autofreq
		unset xlabel
	}
}
