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

# a dataset as a table
orders <- tbl(con, in_schema("sales", "orders_v"))
cat("columns:", colnames(orders), "\n")
# the driver prints an error, returns nothing, and needs a call to tell of it
preview <- tryCatch(suppressWarnings(collect(head(orders, 5))), error = function(e) NULL)
cat("preview:", if (is.null(preview)) 0 else nrow(preview), "rows:", gsub("\n.*", "", dbGetException(con)$errorMsg), "\n")
summary_of <- function() {
	orders %>%
		filter(amount > 50, ordered_at >= "2025-03-01 00:00+00") %>%
		group_by(region) %>%
		summarise(n = n(), mean = mean(amount, na.rm = TRUE), sd = sd(amount, na.rm = TRUE)) %>%
		arrange(region) %>%
		collect()
}
first <- summary_of()
cat("regions:", first$region, "\n")
cat("counts:", first$n, "\n")
cat("same:", identical(summary_of(), first) && identical(summary_of(), first), "\n")
cat("levels:", sort(pull(distinct(orders, region))), "\n")
invisible(dbDisconnect(con))
