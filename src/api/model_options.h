/*
 * model_options.h
 *	  The last argument of the aggregates that fit models: one JSON text that says
 *	  everything which must not depend on rows.
 *
 * It has to be a constant of the query, so that no row can have a say in what the
 * query costs, or in how its values are read.
 */
#ifndef PE_API_MODEL_OPTIONS_H
#define PE_API_MODEL_OPTIONS_H

#include "fmgr.h"

#include "api/model.h"

/*
 * The options of the aggregate that is being evaluated, its argument `argument` from 0;
 * 0A000 unless that is a constant, or a parameter of the statement; 22004 if it is null.
 */
extern char *pe_constant_text(FunctionCallInfo fcinfo, int argument);

/* The type of an argument of the aggregate that is being evaluated. */
extern Oid	pe_aggregate_argument_type(FunctionCallInfo fcinfo, int argument);

/*
 * Reads the JSON: dataset, label, features, method, epsilon, rho, delta, name and budget
 * are those of dp.fit, every other key is an option of the method.
 */
extern void pe_model_options_read(const char *json, pe_model_request *request);

#endif
