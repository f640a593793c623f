/*
 * dataset.h
 *	  Datasets, as the owner declared them.
 *
 * Everything that a sensitivity depends on is read from here and from nowhere
 * else; no function that an analyst calls takes it as an argument.
 */
#ifndef PE_LEDGER_DATASET_H
#define PE_LEDGER_DATASET_H

#include "access/attnum.h"
#include "nodes/pg_list.h"

#include "accounting/filter.h"
#include "strategy/strategy.h"

typedef struct pe_dataset
{
	int64		id;
	char	   *name;
	Oid			relation;
	char	   *relation_schema;	/* the relation's names when they were recorded last */
	char	   *relation_name;
	char	   *owner;			/* who registered it */
	char	   *unit;			/* a column; NULL: each row */
	char	   *unit_type;		/* base type of the column when it was declared */
	AttrNumber	unit_number;	/* its number in the relation: names can be exchanged */
	int			max_rows;
	char	   *neighbours;
	char	   *private_column; /* neighbours are "values": what moves between them; else NULL */
	char	   *private_type;	/* base type of that column when it was declared */
	AttrNumber	private_number;
	double		max_change;		/* by at most this */
	bool		change_all;		/* in all rows; else in one */
	char	   *time_attribute; /* when a row arrived; NULL: not declared */
	char	   *time_type;		/* base type of that column when it was declared */
	AttrNumber	time_number;
	bool		append_only;	/* rows of closed periods stay as they are, and none come late */
	bool		held;			/* which triggers on the table and all that inherit from it hold */
	/*
	 * in which a unit has rows, as is promised; 0: the cap is of all times
	 * together (time_blocks.h)
	 */
	int			max_blocks;
	int			block_months;	/* the length of a block */
	int			block_days;		/* likewise; one of the two is 0 */
	char	   *block_zone;		/* whose calendar it is of */
	pe_accounting accounting;
	double		epsilon;		/* the cap, as declared */
	double		delta;
	double		delta_share;	/* of delta, for charges that have one; 0 if pure */
	pe_amount	limit;
	pe_amount	spent;
	int			version;		/* of the data */
	int			declared_version;	/* the first with these attributes */
	int			declarations;	/* goes up whenever an attribute is altered or dropped */
	int			as_of;			/* attributes are loaded as they were declared at that number; 0: as they are */
	int			used;			/* the highest number since which an attribute that was loaded is declared as it is */
	bool		past;			/* one of them is no longer declared so */
	int			min_count;		/* groups of fewer units are shown to the owner alone; 0: all are to everybody */
	char	   *example_schema; /* of the table whose rows answer in rehearsals (example.h); NULL: there is none */
	char	   *example_name;
	/* in a copy, for one request that is a rehearsal: that table; InvalidOid: it is none */
	Oid			rehearsal;
	int64		cap_id;			/* the dataset whose cap, budgets and chain of charges it has; its own, else */
	List	   *families;		/* of a view that is to be registered (families.h); NIL: as they are stored */
	char	   *view_identity;	/* of all that the proof of a view rested on (view/proof.h); NULL: no view */
	int			view_keys;		/* the owner's words on a view */
	char	  **view_key;
	int			view_functions;
	char	  **view_function;
	bool		never_fails;
	int			max_rows_read;	/* of a unit, the rows of so many cells; 0: all */
	int			view_settings;	/* name and value, one after the other, that expressions may depend on */
	char	  **view_setting;
	char	   *public_id;		/* a random name that no other dataset has */
	char	   *identity;
	bool		dropped;		/* unregistered; its spending is kept */
	bool		frozen;			/* written elsewhere: its OIDs mean nothing here */
	bool		changed_here;	/* by the caller's own open transaction */
} pe_dataset;

/* The number at which the attributes that were loaded are declared as they were loaded. */
static inline int
pe_dataset_declared(const pe_dataset *dataset)
{
	return dataset->as_of > 0 ? dataset->as_of : Max(dataset->used, 1);
}

/* The relation that a request reads. */
static inline Oid
pe_dataset_read_by(const pe_dataset *dataset)
{
	return OidIsValid(dataset->rehearsal) ? dataset->rehearsal : dataset->relation;
}

/*
 * The dataset of this name.  Error 42704 if there is none.  Read under the
 * latest snapshot.
 */
extern pe_dataset *pe_dataset_load(const char *name);

/* The one whose cap it has, which may be itself; its budgets and charges are that one's. */
extern pe_dataset *pe_dataset_of_cap(const pe_dataset *dataset);

/* The same by its number; NULL if it was dropped. */
extern pe_dataset *pe_dataset_load_by_id(int64 id);

/* Those that the current user owns: registered before unregistered, newer before older. */
extern List *pe_datasets_of_user(void);

/* The accounting of a name that is stored. */
extern pe_accounting pe_accounting_of(const char *name);

/* So many nano-units as an epsilon: pure, or of rho at the delta that converts it. */
extern double pe_epsilon_of_nano(pe_accounting accounting, int64 nano, double delta, double delta_share);

/* "rho 0.1" or "epsilon 0.1": what was spent, for a message. */
extern char *pe_spending(pe_amount spent);

/*
 * 55000 if something was spent of a total whose delta_share would change.  The filter is for a
 * limit that is fixed in advance; limits of two shares are not ordered, so that by a change chosen
 * after some answers neither promise would hold.
 */
extern void pe_check_share(pe_amount spent, double delta_share, double asked);

/* What is left of the cap, as an epsilon. */
extern double pe_dataset_epsilon_left(const pe_dataset *dataset);

/*
 * Cuts a unit's rows to fewer than are declared, in this copy, for one request: the
 * cut of the rows and the sensitivity both follow max_rows.  22023 if it is not from 1
 * to max_rows, which is 1 without a unit.
 */
extern void pe_dataset_cut_to(pe_dataset *dataset, int rows);

/* 55000 if its relation is gone.  Of a frozen one the relation is not looked at: here it is another one. */
extern void pe_dataset_check_there(const pe_dataset *dataset);

/* 55000 if the caller's own open transaction changed the dataset or its attributes. */
extern void pe_dataset_check_committed(const pe_dataset *dataset);

/* Whether its neighbours differ in values of the private column; others differ in rows. */
extern bool pe_dataset_has_values(const pe_dataset *dataset);

/* 0A000 if its neighbours differ in values, for functions that protect rows; or the other way round. */
extern void pe_dataset_check_rows(const pe_dataset *dataset);
extern void pe_dataset_check_values(const pe_dataset *dataset);

/* The same of one that is registered or was; NULL if there never was one. */
extern pe_dataset *pe_dataset_recall(int64 id);

/*
 * Whether what was spent of one means the same for the other, in any accounting;
 * max_rows may differ: what a unit lost was measured for all of its rows that counted.
 */
extern bool pe_dataset_same_protection(const pe_dataset *one, const pe_dataset *other);

/* What tables the dataset's sensitivities compare; not for "values". */
extern pe_neighbours pe_dataset_neighbours(const pe_dataset *dataset);

/*
 * Whether role has the privileges of the dataset's owner: the owner of the
 * relation, or, where that is gone or means another one, who registered it.
 */
extern bool pe_dataset_owned_by(const pe_dataset *dataset, Oid role);

/* The same for the columns of a dataset's row. */
extern bool pe_is_owner(const char *identity, Oid relation, const char *owner, Oid role);

/* 42501 unless the current user owns the dataset. */
extern void pe_dataset_check_owner(const pe_dataset *dataset);

/* The dataset of this name; 42704 if there is none, 42501 unless the current user owns it. */
extern pe_dataset *pe_dataset_load_own(const char *name);

/* Whether the row was written for this cluster, timeline, database and relation. */
extern char *pe_current_identity(Oid relation);
extern bool pe_identity_is_frozen(const char *identity, Oid relation);

/* Whether the row was written for this relation in this cluster and database, on any timeline. */
extern bool pe_identity_is_local(const char *identity, Oid relation);

/* For this room: what rows of datasets and of budgets both have. */
struct pe_row;
#define PE_LIMIT_FIELDS(accounting, limit) \
	PE_IF((accounting) != PE_PURE, PE_INT8("rho_limit", (limit).rho_nano)), \
	PE_IF((accounting) != PE_PURE, PE_INT8("delta_limit", (limit).delta_atto)), \
	PE_IF((accounting) == PE_PURE, PE_INT8("epsilon_limit", (limit).epsilon_nano))
extern pe_amount pe_limit_of_row(const struct pe_row *row);
extern pe_amount pe_spent_of_row(const struct pe_row *row);

/* For this room: a row of dp_ledger.dataset as a dataset, and the row of this name; NULL if there is none. */
extern pe_dataset *pe_dataset_of_row(const struct pe_row *row);
extern struct pe_row *pe_dataset_row(const char *name);

/* ----------
 * Tables become datasets, move and go.
 * ----------
 */

/*
 * The datasets of the relation, its ancestors and its descendants, where they are
 * of here, the newest first.  Every question asks for them.
 */
extern List *pe_datasets_of_family(Oid relation);

/*
 * 55000 if another dataset has rows of this one, by an inheritance or a
 * partition that came after both were registered.
 */
extern void pe_dataset_check_alone(const pe_dataset *dataset);

/*
 * Writes.  The caller has validated the arguments; these run in the caller's
 * transaction, and each is an act (acts.h).
 */

/*
 * Registers declared->relation: name, cap (epsilon, delta, delta_share), unit, max_rows, neighbours, private_column,
 * max_change, change_all and accounting are as declared, so what is of a view, and cap_id (0: a cap of its own);
 * the rest is not looked at.
 */
extern void pe_dataset_register(const pe_dataset *declared);

/*
 * Registrations of tables that have rows in common come one after the other, so
 * that two cannot overlap unseen; those of others do not wait: else an owner of any
 * table could stop them all.  Held to the end of the transaction.  Tables that come
 * to inherit from each other later are for pe_dataset_check_alone.
 */
extern void pe_registration_lock(Oid relation);

/* Whether a dataset of here, registered or not, is of this very relation. */
extern bool pe_relation_is_known(Oid relation);

/*
 * The row of a dataset is written for this relation of here.  Of another table than it
 * was written for, columns are those of the declared names; of the same one, those that
 * were declared.
 */
extern void pe_dataset_place(int64 id, Oid relation, bool same_table);

/*
 * The dataset goes on with another table: cap, charges, budgets, attributes and version
 * stay.  42710 if that is a table of a dataset, or a relative of one; 55000 if it has other
 * columns than those declared.  What other datasets spent on it is charged to the cap.
 */
extern void pe_dataset_move(const pe_dataset *dataset, Oid relation, const char *reason);

/* A view was proved again: its identity and its families are as in `proved` from now on. */
extern void pe_dataset_take_proof(const pe_dataset *dataset, const pe_dataset *proved);

extern void pe_dataset_unregister(const pe_dataset *dataset);
extern int	pe_dataset_new_version(const pe_dataset *dataset);

/* units: 0: none. */
extern void pe_dataset_set_min_count(const pe_dataset *dataset, int units);

/* InvalidOid: it has none any more.  The caller has validated it (example.h). */
extern void pe_dataset_set_example(const pe_dataset *dataset, Oid relation);

#endif
