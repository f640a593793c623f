/*
 * view_words.h
 *	  What an owner says of a view, as arguments of SQL functions.
 */
#ifndef PE_OWNER_VIEW_WORDS_H
#define PE_OWNER_VIEW_WORDS_H

#include "fmgr.h"

#include "view/proof.h"

/*
 * Arguments n to n + 3: public_tables regclass[], keys text[], functions regprocedure[],
 * never_fails boolean.  NULL says nothing; 22004 for an element that is null.
 */
extern pe_view_words *pe_view_words_argument(FunctionCallInfo fcinfo, int n);

#endif
