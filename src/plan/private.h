/*
 * private.h
 *	  The fields of a plan: for this room alone (scripts/check_layers.sh).
 */
#ifndef PE_PLAN_PRIVATE_H
#define PE_PLAN_PRIVATE_H

#include "accounting/private.h"
#include "counts/dawa.h"
#include "noise/private.h"
#include "plan/plan.h"
#include "blocks/blocks.h"

/* A kind of plan. */
typedef struct pe_plan_kind
{
	/* Whether noise for a cost of plan->nano can be drawn. */
	bool		(*serves) (const pe_plan *plan);
	/* The cost, of a plan whose nano is served. */
	pe_cost		(*cost) (const pe_plan *plan);
	/* The most that the draws of one run take together, in nano-units. */
	int64_t		(*drawn) (const pe_plan *plan);
	/* pe_plan_measure; NULL: no counts. */
	void		(*measure) (const pe_plan *plan, pe_allowance *allowance, const int64_t *columns, pe_i128 *exact,
							int64_t *released, void (*hold) (void));
} pe_plan_kind;

struct pe_plan
{
	const pe_plan_kind *kind;
	pe_cost		cost;
	pe_accounting accounting;
	bool		approximate;	/* an (epsilon, delta) method: nano is of its epsilon */
	int64_t		nano;			/* what the draws are calibrated to, or divide */
	double		delta;
	int64_t		delta_atto;		/* of keys: charged, in 1e-18 */
	int64_t		nano_of_sums;	/* of keys: of nano, what their sums take; 0: there are none */
	pe_plan_rules rules;
	const pe_strategy *strategy;	/* of dawa: the columns */
	pe_noise	noise;			/* of the only part, or of the one that max_stderr bounds in a series */
	int			parts;			/* of a measurement, of a period of a series, and of the sums of a key */
	pe_plan_part *part;
	int32_t		vectors;		/* of all parts, those of blocks one by one */
	pe_noise_vector *vector;
	pe_dawa_plan dawa;
	pe_fit_problem model;
	pe_minimum_problem minimum;
	pe_quantile_problem quantiles;
	pe_tree_problem tree;
	pe_plan_series series;		/* time: NULL of other kinds */
	/*
	 * of a series: C of all of it, of what the noise is calibrated to, of what
	 * is paid, and of one period (plan_series.c)
	 */
	pe_u128		factor[4];
	int32_t		period;			/* of a series: the only one that is measured, from 1; 0: any */
};

/* A plan of a kind, without a cost. */
extern pe_plan *pe_plan_begin(const pe_plan_kind *kind, const pe_plan_ask *ask);

/* The plan of counts whose gram is there. */
extern pe_plan_status pe_plan_of_dawa(const pe_plan_ask *ask, const pe_plan_counts *counts, pe_plan **plan);

/* What was asked for in nano-units, of epsilon for an (epsilon, delta) method; not of max_stderr. */
extern int64_t pe_plan_nano(const pe_plan_ask *ask, bool approximate);

/* Sets the one cost; PE_PLAN_COST if the kind does not serve it. */
extern pe_plan_status pe_plan_end(pe_plan *plan, int64_t nano);

/* What one run may draw. */
extern pe_allowance pe_plan_allowance(const pe_plan *plan);

/* The most that one run of an exact plan draws: its cost. */
extern int64_t pe_plan_drawn_exactly(const pe_plan *plan);

/*
 * How many vectors a part is drawn in, and what each is drawn with; false, or NULL, if a sensitivity is too large to be
 * served, or the shares of blocks are of the other norm.  pe_free.
 */
extern int32_t pe_plan_part_vectors(const pe_plan_part *part);
extern bool pe_plan_vectors_of_part(const pe_plan_part *part, const pe_plan_rules *rules, pe_accounting accounting,
									pe_noise_vector *vector);
extern pe_noise_vector *pe_plan_vectors_of_parts(const pe_plan_part *part, int parts, const pe_plan_rules *rules,
												 pe_accounting accounting, int32_t *vectors);

/* The noise that variances of a part are in units of, without its cost; of blocks with D = 1 and the part's share. */
extern bool pe_plan_part_noise(const pe_plan_part *part, const pe_plan_rules *rules, pe_accounting accounting,
							   pe_noise *noise);

/* The plan copies its parts, so that none changes once it is checked. */
extern void pe_plan_take_parts(pe_plan *plan, const pe_plan_sums *sums);

/* A_i x_i of all parts, one after the other. */
extern void pe_plan_apply_parts(const pe_plan *plan, const int64_t *columns, pe_i128 *exact);

/* Noise for nano on the plan's vectors, which may be longer than those of the plan: the same for several keys. */
extern void pe_plan_draw_parts(const pe_plan *plan, pe_allowance *allowance, const pe_noise_vector *vector,
							   int64_t nano, pe_i128 *exact, int64_t *released);

#endif
