/*
 * formats.h
 *	  In which format a row of the ledger is, and which ones this library reads.
 *
 * Rows of dataset, charge, act, release, model and series have a number, 1 since
 * version 1.0.  A library that writes something that an older one would misread
 * writes that row under a higher number, and all other rows as before; the row of
 * a dataset stands for its budgets, attributes and blocks, that of a series for
 * its periods.  A row with a higher number than is known here is refused: after
 * an older library was put back, on a standby that has one, and after a dump was
 * restored beside one.  Strategies have a number in their bytes (strategy_bytes.c),
 * messages between sessions and the worker one in the mailbox (worker/mailbox.h).
 */
#ifndef PE_LEDGER_FORMATS_H
#define PE_LEDGER_FORMATS_H

/* What is written, and the highest number that is read.  PE_WIRE (worker/mailbox.h) goes up with it. */
#define PE_FORMAT 1
#define PE_FORMAT_TEXT CppAsString2(PE_FORMAT)

/* 55000 if a row is in a format that this library does not know; then what follows says, as for printf, which row. */
#define PE_CHECK_FORMAT(format, ...) \
	do { \
		if ((format) > PE_FORMAT) \
			pe_format_refuse(psprintf(__VA_ARGS__)); \
	} while (0)

/* 55000: a newer version of the library wrote this. */
extern void pe_format_refuse(const char *what) __attribute__((noreturn));

#endif
