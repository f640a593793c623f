/*
 * public_joins.c
 *	  The joins of a dataset.  See public_joins.h.
 */
#include "postgres.h"

#include "api/public_joins.h"
#include "server/access.h"

/* For pe_run_undone: the caller's transaction keeps no lock of the ledger. */
typedef struct loading
{
	const char *name;
	pe_dataset *dataset;
} loading;

static void
load(void *argument)
{
	loading    *l = argument;

	l->dataset = pe_dataset_load(l->name);
	pe_dataset_check_rows(l->dataset);
	pe_dataset_check_there(l->dataset);
}

static pe_public_joins *
gone(const char *name, const char *id, ErrorData *error)
{
	pe_public_joins *found = palloc0(sizeof(*found));

	found->dataset = pstrdup(name);
	found->public_id = pstrdup(id);
	found->error = error;
	return found;
}

pe_public_joins *
pe_public_joins_load(const char *name, const char *id)
{
	loading		l = {.name = name};
	ErrorData  *error = pe_run_undone(load, &l);
	pe_public_joins *found;

	if (error != NULL && id != NULL && error->sqlerrcode == ERRCODE_UNDEFINED_OBJECT)
		return NULL;
	if (error != NULL && id != NULL && error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE)
		return gone(name, id, error);
	if (error != NULL)
		ReThrowError(error);
	if (id != NULL && strcmp(l.dataset->public_id, id) != 0)
		return NULL;
	found = palloc0(sizeof(*found));
	found->dataset = l.dataset->name;
	found->public_id = l.dataset->public_id;
	found->unit = l.dataset->unit;
	found->cap = l.dataset->cap_id;
	if (l.dataset->frozen)
		found->why = "was written elsewhere";
	else
		found->joins = pe_joins_of(l.dataset, &found->why);
	return found;
}

const pe_join_output *
pe_public_joins_unit(const pe_public_joins *d)
{
	for (int o = 0; d->unit != NULL && o < d->joins->outputs; o++)
		if (strcmp(d->joins->output[o].name, d->unit) == 0)
			return &d->joins->output[o];
	return NULL;
}
