/*
 * synthetic_example.h
 *	  How far off synthetic rows would be, if the data were like an example.
 */
#ifndef PE_READ_SYNTHETIC_EXAMPLE_H
#define PE_READ_SYNTHETIC_EXAMPLE_H

#include "ask/ask_synthetic.h"

/* Synthetic tables that are made of it. */
#define PE_EXAMPLE_TABLES 10

/*
 * The mean total variation between the tables of two attributes (of the one, where there is one) of an example and of
 * synthetic tables that are made from it at the cost of a call of method tree, which is prepared.  The example is read
 * with the caller's rights, each row of it counts, and nothing is charged.  Polls.
 *
 * It must not be private: 42809 for a table that has rows of a dataset.  42703 or 42804 where it lacks a column, or has
 * one of another type; 55000 where no row counts; 0A000 for a predicate and for method full.
 */
extern double pe_synthetic_example(const pe_synthetic_call *call, Oid relation);

#endif
