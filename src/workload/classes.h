/*
 * classes.h
 *	  Classes of cells that no query tells apart.
 *
 * Per attribute, neighbouring cells are in one class if every factor on the
 * attribute gives them the same weights; an attribute that no factor names is
 * one class.  So a workload over a million cells that asks for ranges of one
 * attribute is as small as that attribute.  Arrays over the classes of all
 * attributes are row-major, last attribute fastest: the `cells` of pe_classes.
 */
#ifndef PE_WORKLOAD_CLASSES_H
#define PE_WORKLOAD_CLASSES_H

#include "workload/workload.h"

typedef struct pe_classes
{
	int			attributes;		/* of the shape; without any, one of one class */
	int32_t		cells;			/* of the product */
	int32_t		count[PE_MAX_ATTRIBUTES];
	int32_t    *class_of[PE_MAX_ATTRIBUTES];	/* of each cell of the attribute */
	int32_t    *first[PE_MAX_ATTRIBUTES];	/* the first cell of each class */
} pe_classes;

/* The classes that the workloads, all over one shape, tell apart together. */
extern void pe_classes_init(const pe_workload *const *workloads, int count, pe_classes *classes);
extern void pe_classes_free(pe_classes *classes);

/* The class, as an index into arrays over classes, of a cell of the shape. */
extern int32_t pe_classes_of_cell(const pe_classes *classes, const pe_shape *shape, int32_t cell);

#endif
