/*
 * compat.h
 *	  What later versions of the server call otherwise.
 */
#ifndef PE_SERVER_COMPAT_H
#define PE_SERVER_COMPAT_H

#include "access/stratnum.h"
#include "utils/lsyscache.h"

/* From 18 on operators are told by the kind of comparison, whose numbers are those of the strategies of a B-tree. */
#if PG_VERSION_NUM >= 180000
typedef OpIndexInterpretation pe_comparison_meaning;
#define pe_comparison_meanings(operator) get_op_index_interpretation(operator)
#define pe_comparison_kind(meaning) ((int) (meaning)->cmptype)
typedef CompareType pe_ordering_kind;
#else
typedef OpBtreeInterpretation pe_comparison_meaning;
#define pe_comparison_meanings(operator) get_op_btree_interpretation(operator)
#define pe_comparison_kind(meaning) ((meaning)->strategy)
typedef int16 pe_ordering_kind;
#endif

/* <>, which no B-tree has. */
#define PE_COMPARISON_NE 6

#endif
