/*
 * by_columns.h
 *	  Attributes of by, some of them rolled up.
 */
#ifndef PE_ASK_BY_COLUMNS_H
#define PE_ASK_BY_COLUMNS_H

#include "ledger/columns.h"
#include "ledger/dataset.h"

/*
 * The attributes of by, each a name or a roll-up (domain/roll_up.h) of one.  Errors: those of pe_columns_load; of a
 * roll-up 42601, 42704 or 22023 with its position, and 54000 for one that is too long.
 */
extern pe_column *pe_by_columns(pe_dataset *dataset, char **by, int *count);

#endif
