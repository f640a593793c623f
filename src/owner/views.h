/*
 * views.h
 *	  What the owner says of a view that is to be a dataset, and of a cap that datasets share.
 */
#ifndef PE_OWNER_VIEWS_H
#define PE_OWNER_VIEWS_H

#include "fmgr.h"

#include "ledger/dataset.h"

/* Arguments of dp.create_dataset from number n on: public_tables, keys, functions, never_fails, max_rows_read. */
extern void pe_view_arguments(FunctionCallInfo fcinfo, int n, pe_dataset *declared, List **public_tables);

/*
 * Proves the view that is to be registered; 54000 where a unit's rows are multiplied and
 * nothing says how many are read.
 */
extern void pe_view_declare(pe_dataset *declared, List *public_tables);

/* A NOTICE of whose the rows of each table are. */
extern void pe_view_tell(const pe_dataset *declared);

/* Proves a view again, and takes it as it is now. */
extern void pe_view_renew(const pe_dataset *dataset);

/* The same of one that is to go on with another view. */
extern void pe_view_move(const pe_dataset *dataset, Oid relation);

/*
 * Whether the view of a dataset that was attested here is proved by the rules that it had; then its
 * identity is the one of here.
 */
extern bool pe_view_is_provable(const pe_dataset *dataset);

/* Argument n, same_cap_as: cap, accounting and neighbours become those of that dataset; 22023 for others of its own. */
extern void pe_cap_argument(FunctionCallInfo fcinfo, int n, pe_dataset *declared);

/* 22023 unless the units of both are of one type. */
extern void pe_cap_check_unit(const pe_dataset *declared);

/*
 * 0A000 where rows of a view move with the clock, and for the promise that those of periods that are over stay as they
 * are, where the view does not keep it.
 */
extern void pe_view_check_time(const pe_dataset *dataset, bool append_only);

/* 0A000 for what is not served on views. */
extern void pe_view_not_served(const pe_dataset *dataset, const char *what, const char *hint);

#endif
