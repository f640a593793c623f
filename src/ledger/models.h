/*
 * models.h
 *	  Fitted models: the table dp_ledger.model.
 *
 * A model is a release whose payload are coefficients and their standard errors, and a name.  What it needs
 * to predict is kept beside it, so that it outlives the attributes it was fitted
 * on.
 */
#ifndef PE_LEDGER_MODELS_H
#define PE_LEDGER_MODELS_H

#include "ledger/wire.h"
#include "ledger/dataset.h"

/* Messages between a backend and the worker. */
extern void pe_model_record_write(StringInfo to, const pe_model_record *record);
extern pe_model_record *pe_model_record_read(StringInfo from);

/*
 * Worker, when a charge is reserved or a release found: 42710 if another model has
 * the name that is asked for; a model that is found gets it as one more, and a model
 * that was dropped is kept anew.
 */
extern void pe_model_reserve_name(const pe_charge_request *request, const pe_charge_reply *reply);

/*
 * Worker: keeps the model of a new release, whose values these are.  The release's number is put behind its
 * name where that was asked for, or where the name was taken since it was reserved.
 */
extern void pe_model_keep(const pe_charge_request *request, int64 release_id, const int64 *value);

/* The name that a release's model goes by: the one wanted if it has it, else its first; NULL if it has none. */
extern char *pe_model_name(int64 release_id, const char *wanted);

/* In the caller's transaction: keeps a model that was fitted without privacy. */
extern char *pe_model_keep_plain(const pe_dataset *dataset, const pe_charge_request *request,
								 const double *coefficient);

typedef struct pe_kept_model
{
	char	   *name;
	char	   *kind;
	char	   *label;
	char	   *declaration;	/* JSON */
	int			features;
	char	  **feature;
	int			terms;
	char	  **term;
	double	   *coefficient;
	int64		release_id;		/* 0: it was fitted without privacy */
} pe_kept_model;

/* The model of this name; 42704 if there is none that the current user may use. */
extern pe_kept_model *pe_model_load(const char *name);

/*
 * In the caller's transaction: takes a model's name away from a model that the
 * current user may use; 42501 if it is not of his giving, nor his dataset's.
 */
extern void pe_model_drop(const char *name);

#endif
