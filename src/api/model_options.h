/*
 * model_options.h
 *	  The last argument of the aggregates that fit models (options.h).
 */
#ifndef PE_API_MODEL_OPTIONS_H
#define PE_API_MODEL_OPTIONS_H

#include "api/model.h"

/*
 * Reads the options: dataset, label, features, method, epsilon, rho, delta, model and budget
 * are those of dp.fit, every other key is an option of the method.
 */
extern void pe_model_options_read(const Jsonb *options, pe_request *request);

#endif
