# A statistician's way: dplyr verbs that dbplyr translates to SQL.  Prints one line per finding.
# Run by test/t/060_clients.pl:
#
#   Rscript dbplyr_client.R HOST PORT USER
suppressPackageStartupMessages({
	library(DBI)
	library(dplyr)
	library(dbplyr)
})
a <- commandArgs(trailingOnly = TRUE)
con <- dbConnect(RPostgreSQL::PostgreSQL(), host = a[1], port = as.integer(a[2]), user = a[3], dbname = "postgres")
answer <- dbGetQuery(con, "SELECT query, estimate, release FROM dp.histogram('people', '{age,sex}', epsilon => 0.5)")
cat("replay:", nrow(answer), "rows of release", answer$release[1], "\n")
by_sex <- tbl(con, "report") %>%
	filter(age_from >= 50L) %>%
	group_by(sex) %>%
	summarise(estimate = sum(estimate, na.rm = TRUE), stderr = sqrt(sum(stderr * stderr, na.rm = TRUE))) %>%
	arrange(sex) %>%
	collect()
cat("summary:", by_sex$sex, nrow(by_sex), "\n")
cat("sum:", floor(sum(by_sex$estimate)), "\n")
invisible(dbDisconnect(con))
