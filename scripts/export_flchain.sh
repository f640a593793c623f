#!/usr/bin/env bash
# Writes demo/flchain.csv from the R package survival (Debian: r-cran-survival, needs Rscript).
# NA becomes an empty field; the names age, sex, sample_yr, ... have underscores for R's dots.
set -eu
cd "$(dirname "$0")/.."
command -v Rscript >/dev/null || {
	echo "Rscript was not found. Install it with: apt-get install --no-install-recommends r-base-core r-cran-survival" >&2
	exit 1
}
Rscript --vanilla /dev/stdin <<'END'
d <- survival::flchain
names(d) <- gsub(".", "_", names(d), fixed = TRUE)
stopifnot(nrow(d) == 7874,
          identical(names(d), c("age", "sex", "sample_yr", "kappa", "lambda", "flc_grp", "creatinine",
                                "mgus", "futime", "death", "chapter")))
write.csv(d, "demo/flchain.csv", na = "", quote = FALSE, row.names = FALSE)
END
wc -lc demo/flchain.csv
