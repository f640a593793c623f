/*
 * registered.h
 *	  The proof of a view that is a dataset, or is to be one.
 *
 * What is proved is what is read: under the settings that are kept with the dataset, with the
 * owner's words as they are kept, and by the rules that its cap has.  A request proves it again
 * under the locks of the proof, which stay to the end of the scan, and goes on only if the
 * identity is the one that was registered: so nothing that the proof rests on has changed since,
 * and nothing changes before the last row is read.
 */
#ifndef PE_VIEW_REGISTERED_H
#define PE_VIEW_REGISTERED_H

#include "ledger/dataset.h"
#include "view/proof.h"

/*
 * Proves a view that is to be a dataset, by the words, settings and cap that stand in `declared`,
 * whose identity and families it sets.  public_tables: Oids that the owner named.  Errors: those of
 * the proof.
 */
extern pe_view_proof *pe_view_prove_declared(pe_dataset *declared, List *public_tables);

/* The same by the words of a registered one; what it sets is in *proved, a copy. */
extern pe_view_proof *pe_view_prove_anew(const pe_dataset *dataset, pe_dataset *proved);

/* The owner's words on a view that is registered.  Names in them are looked up under the search_path that is set. */
extern pe_view_words pe_view_words_registered(const pe_dataset *dataset);

/* 55000 where the view of a dataset is not the one that was registered. */
extern pe_view_proof *pe_view_prove_again(const pe_dataset *dataset);

/* Sets what expressions of the view may depend on, until the current GUC nest level ends. */
extern void pe_view_pin_settings(const pe_dataset *dataset);

/* The settings as they are now, for a dataset that is registered. */
extern char **pe_view_settings_now(int *count);

#endif
