/*
 * total.c
 *	  No expression of a view fails on any row that its tables could have.
 *
 * A failure is an output: a row on which an expression fails ends the statement, and the table of
 * answers is empty, so one unit could tell whether it is there.  The planner may evaluate an expression
 * on rows that WHERE or a join would take away, so every expression must be total by itself: on
 * all values that the types and the CHECK constraints of its columns allow.
 *
 * Expressions are walked from the columns up, each with its extent: what its values can be.  What
 * is not known to be total is refused, unless the owner's words carry it.
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/regproc.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"
#include "mb/pg_wchar.h"

#include "ledger/relation.h"
#include "server/compat.h"
#include "server/values.h"
#include "view/prover.h"

/* ------------------------------------------------------------------
 * Extents
 * ------------------------------------------------------------------
 */

static void
set_range(pe_extent *extent, pe_i128 low, pe_i128 high)
{
	extent->has_range = true;
	extent->low = low;
	extent->high = high;
}

pe_extent *
pe_extent_of_type(Oid type, int32 typmod)
{
	pe_extent  *extent = palloc0(sizeof(pe_extent));

	extent->digits = extent->scale = extent->length = -1;
	type = getBaseTypeAndTypmod(type, &typmod);
	if (type == INT2OID)
		set_range(extent, PG_INT16_MIN, PG_INT16_MAX);
	else if (type == INT4OID)
		set_range(extent, PG_INT32_MIN, PG_INT32_MAX);
	else if (type == INT8OID)
		set_range(extent, PG_INT64_MIN, PG_INT64_MAX);
	else if (type == NUMERICOID && typmod >= (int32) VARHDRSZ)
	{
		int32		scale = (int32) (((uint32) (typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;

		extent->scale = Max(scale, 0);
		extent->digits = Max((int32) (((typmod - VARHDRSZ) >> 16) & 0xffff) - scale, 0);
	}
	else if ((type == VARCHAROID || type == BPCHAROID) && typmod >= (int32) VARHDRSZ)
		extent->length = typmod - VARHDRSZ;
	else if (type == CHAROID)
		extent->length = 1;
	return extent;
}

static int
larger_or_unknown(int one, int other)
{
	return one < 0 || other < 0 ? -1 : Max(one, other);
}

pe_extent *
pe_extent_join(const pe_extent *one, const pe_extent *other)
{
	pe_extent  *extent = palloc0(sizeof(pe_extent));

	if (one->has_range && other->has_range)
		set_range(extent, Min(one->low, other->low), Max(one->high, other->high));
	extent->is_nonzero = one->is_nonzero && other->is_nonzero;
	extent->digits = larger_or_unknown(one->digits, other->digits);
	extent->scale = larger_or_unknown(one->scale, other->scale);
	extent->length = larger_or_unknown(one->length, other->length);
	return extent;
}

static bool
is_of_others(Oid function, void *unused)
{
	return function >= FirstNormalObjectId || func_volatile(function) != PROVOLATILE_IMMUTABLE;
}

/* Whether something is there that is no constant, or would run a function of others. */
static bool
is_variable(Node *node, void *unused)
{
	if (node == NULL)
		return false;
	if (!IsA(node, Const) && !IsA(node, FuncExpr) && !IsA(node, OpExpr) && !IsA(node, RelabelType) &&
		!IsA(node, ArrayExpr) && !IsA(node, ArrayCoerceExpr) && !IsA(node, CaseTestExpr) && !IsA(node, CoerceViaIO) &&
		!IsA(node, List))
		return true;
	return check_functions_in_node(node, is_of_others, NULL) || expression_tree_walker(node, is_variable, NULL);
}

Node *
pe_fold(Node *node)
{
	return is_variable(node, NULL) ? node : eval_const_expressions(NULL, node);
}

bool
pe_is_constant(Node *node, Datum *value)
{
	Const	   *constant;

	if (node == NULL)
		return false;
	constant = (Const *) pe_fold(node);
	if (!IsA(constant, Const) || constant->constisnull)
		return false;
	*value = constant->constvalue;
	return true;
}

static void
extent_of_numeric(pe_extent *extent, Datum value)
{
	Numeric		number = DatumGetNumeric(value);
	char	   *text;
	char	   *point;
	int			digits;
	bool		has_part;

	if (numeric_is_nan(number) || numeric_is_inf(number))
		return;
	text = DatumGetCString(DirectFunctionCall1(numeric_out, value));
	point = strchr(text, '.');
	digits = (int) strcspn(text + (*text == '-'), ".");
	extent->scale = point != NULL ? (int) strlen(point + 1) : 0;
	extent->digits = digits;
	extent->is_nonzero = strspn(text, "-0.") != strlen(text);
	has_part = point != NULL && strspn(point + 1, "0") != strlen(point + 1);
	if (digits <= 18)
	{
		pe_i128		whole = strtoll(text, NULL, 10);

		set_range(extent, whole - (has_part && *text == '-' ? 1 : 0), whole + (has_part && *text != '-' ? 1 : 0));
	}
}

static void
extent_of_interval(pe_extent *extent, const Interval *interval)
{
	pe_i128		day = USECS_PER_DAY;
	pe_i128		days = (pe_i128) interval->day * day + interval->time;
	pe_i128		shortest = (pe_i128) interval->month * (interval->month < 0 ? 31 : 28) * day;
	pe_i128		longest = (pe_i128) interval->month * (interval->month < 0 ? 28 : 31) * day;

	/* months, days and time are added one after the other: none of them may lead out of what a date can be */
	if (interval->month > -120000 && interval->month < 120000 && interval->day > -4000000 && interval->day < 4000000 &&
		interval->time > -4000000 * day && interval->time < 4000000 * day)
		set_range(extent, shortest + days, longest + days);
}

static int
text_length(Datum value)
{
	text	   *string = DatumGetTextPP(value);

	return pg_mbstrlen_with_len(VARDATA_ANY(string), VARSIZE_ANY_EXHDR(string));
}

pe_extent *
pe_extent_of_const(const Const *constant)
{
	Oid			type = getBaseType(constant->consttype);
	pe_extent  *extent = pe_extent_of_type(type, constant->consttypmod);
	pe_i128		value = 0;

	if (constant->constisnull)
		return extent;
	switch (type)
	{
		case INT2OID:
			value = DatumGetInt16(constant->constvalue);
			break;
		case INT4OID:
			value = DatumGetInt32(constant->constvalue);
			break;
		case INT8OID:
			value = DatumGetInt64(constant->constvalue);
			break;
		case NUMERICOID:
			extent->digits = -1;
			extent_of_numeric(extent, constant->constvalue);
			return extent;
		case DATEOID:
			if (!DATE_NOT_FINITE(DatumGetDateADT(constant->constvalue)))
				set_range(extent, DatumGetDateADT(constant->constvalue), DatumGetDateADT(constant->constvalue));
			return extent;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			if (!TIMESTAMP_NOT_FINITE(DatumGetTimestamp(constant->constvalue)))
				set_range(extent, DatumGetTimestamp(constant->constvalue), DatumGetTimestamp(constant->constvalue));
			return extent;
		case INTERVALOID:
			extent_of_interval(extent, DatumGetIntervalP(constant->constvalue));
			return extent;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
			extent->length = text_length(constant->constvalue);
			return extent;
		default:
			return extent;
	}
	set_range(extent, value, value);
	extent->is_nonzero = value != 0;
	return extent;
}

/* ------------------------------------------------------------------
 * Comparisons
 * ------------------------------------------------------------------
 */

/* One value or the other, never a failure. */
static bool
is_scalar(Oid type)
{
	static const Oid scalars[] = {BOOLOID, INT2OID, INT4OID, INT8OID, FLOAT4OID, FLOAT8OID, NUMERICOID, TEXTOID,
		VARCHAROID, BPCHAROID, NAMEOID, CHAROID, DATEOID, TIMEOID, TIMESTAMPOID, TIMESTAMPTZOID, INTERVALOID,
	UUIDOID, BYTEAOID, ANYENUMOID, OIDOID};

	for (int i = 0; i < lengthof(scalars); i++)
		if (type == scalars[i])
			return true;
	return false;
}

bool
pe_is_comparison(Oid operator)
{
	Oid			left;
	Oid			right;

	if (!OidIsValid(operator) || operator >= FirstNormalObjectId)
		return false;
	op_input_types(operator, &left, &right);
	return is_scalar(left) && is_scalar(right) && pe_comparison_meanings(operator) != NIL;
}

/* ------------------------------------------------------------------
 * Refusals, and what is believed
 * ------------------------------------------------------------------
 */

static void
believe(pe_block *block, char *reason)
{
	pe_view_word *word = palloc(sizeof(pe_view_word));

	word->part = psprintf("%s of %s", block->prover->part, block->name);
	word->reason = reason;
	block->prover->believed = lappend(block->prover->believed, word);
}

static void
refuse(pe_block *block, Node *node, const char *rule, const char *form)
{
	pe_block_refuse(block, psprintf("%s in %s", pe_expression_text(block, node), block->prover->part), rule, form);
}

/* Of the server itself, immutable and compiled in: a function of its arguments, which may fail but reads nothing. */
static bool
is_pure(Oid function)
{
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc proc;
	bool		pure;

	if (!HeapTupleIsValid(tuple))
		return false;
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	pure = function < FirstNormalObjectId && proc->provolatile == PROVOLATILE_IMMUTABLE &&
		proc->prolang == INTERNALlanguageId && !proc->proretset && proc->prokind == PROKIND_FUNCTION &&
		!OidIsValid(proc->provariadic);
	ReleaseSysCache(tuple);
	return pure;
}

static pe_extent *
believe_or_refuse(pe_block *block, Node *node, Oid function, const char *form)
{
	if (!block->prover->words->never_fails || !is_pure(function))
		refuse(block, node, "It can fail on some values, or is not known to be a function of them alone.", form);
	believe(block, psprintf("%s does not fail, by never_fails. Without that word: %s",
							pe_expression_text(block, node), form));
	return pe_extent_of_type(exprType(node), exprTypmod(node));
}

/* What people write, and the total form of it. */
static const char *
form_of(Oid function)
{
	static const struct
	{
		const char *name;
		const char *form;
	}			forms[] = {
		{"to_char", "Use date_trunc or extract, or left(day::text, 7) for the month of a date."},
		{"age", "Subtract two dates: the difference is a number of days."},
		{"date_part", "Use extract(... FROM ...), of a column with a range: CHECK (day BETWEEN ... AND ...)."},
		{"interval_mul", "Add a number of days to a date, or a constant interval to a timestamp."},
		{"mul_d_interval", "Add a number of days to a date, or a constant interval to a timestamp."},
		{"timezone", "Store the local time in a column of its own."},
		{"float8", "Cast to integer or numeric(p,s), from a column with a range."}
	};
	const char *name = get_func_name(function);

	for (int i = 0; i < lengthof(forms) && name != NULL; i++)
		if (strcmp(forms[i].name, name) == 0)
			return forms[i].form;
	return "Use an expression that is known not to fail, or never_fails if it is IMMUTABLE and no value of the column "
		"makes it fail.";
}

/* A function that the owner vouches for. */
static void
check_word(pe_block *block, Node *node, Oid function)
{
	Oid			owner;
	HeapTuple	tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	Form_pg_proc proc;
	bool		fits;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for function %u", function);
	proc = (Form_pg_proc) GETSTRUCT(tuple);
	owner = proc->proowner;
	fits = proc->provolatile == PROVOLATILE_IMMUTABLE && !proc->proretset && proc->prokind == PROKIND_FUNCTION;
	ReleaseSysCache(tuple);
	if (!fits)
		refuse(block, node, "A function that is vouched for is IMMUTABLE and returns one value.",
			   "Declare it IMMUTABLE if it depends on its arguments alone.");
	if (!superuser_arg(owner))
		refuse(block, node, "The function runs in the session of the role that asks, whose open cursors it can read.",
			   "A superuser can own the function: ALTER FUNCTION ... OWNER TO.");
}

/* ------------------------------------------------------------------
 * Calls
 * ------------------------------------------------------------------
 */

static void
check_collation(pe_block *block, Node *node, Oid collation, List *arguments)
{
	bool		needs = false;
	ListCell   *cell;

	foreach(cell, arguments)
		needs = needs || type_is_collatable(exprType(lfirst(cell)));
	if (needs && (!OidIsValid(collation) || !get_collation_isdeterministic(collation)))
		refuse(block, node, "Its collation is not determined, or calls other texts equal.",
			   "Add COLLATE \"C\", or declare the column with a deterministic collation.");
}

static pe_extent *
extent_of_call(pe_block *block, Node *node, Oid function, Oid collation, List *arguments)
{
	const pe_fact *fact = pe_fact_of(function);
	pe_call		call = {.function = function, .type = getBaseType(exprType(node))};
	pe_extent  *extent;
	ListCell   *cell;

	foreach(cell, arguments)
	{
		extent = pe_extent_of(block, lfirst(cell));
		if (call.count == lengthof(call.node))
			refuse(block, node, "It has too many arguments.", "Call functions of fewer arguments.");
		call.node[call.count] = lfirst(cell);
		call.argument[call.count++] = extent;
	}
	check_collation(block, node, collation, arguments);
	call.has_settings = &block->prover->has_settings;
	extent = pe_extent_of_type(exprType(node), exprTypmod(node));
	if (fact != NULL && fact->apply(&call, extent))
		return extent;
	if (list_member_oid(block->prover->words->functions, function))
	{
		check_word(block, node, function);
		believe(block, psprintf("function %s is total, depends on its arguments alone and reads no table, by functions",
								format_procedure(function)));
		return pe_extent_of_type(exprType(node), exprTypmod(node));
	}
	return believe_or_refuse(block, node, function, fact != NULL ? fact->form :
							 function < FirstNormalObjectId ? form_of(function) :
							 "Name it in functions if it is IMMUTABLE, total and reads no table; or write the "
									"expression.");
}

static void
check_all(pe_block *block, List *nodes)
{
	ListCell   *cell;

	foreach(cell, nodes)
		(void) pe_extent_of(block, lfirst(cell));
}

static pe_extent *
extent_of_operator(pe_block *block, OpExpr *node)
{
	if (pe_is_comparison(node->opno))
	{
		Oid			left;
		Oid			right;

		/* a date is a point of time by the session's zone */
		op_input_types(node->opno, &left, &right);
		block->prover->has_settings |= left != right && (left == TIMESTAMPTZOID || right == TIMESTAMPTZOID);
		check_all(block, node->args);
		check_collation(block, (Node *) node, node->inputcollid, node->args);
		return pe_extent_of_type(BOOLOID, -1);
	}
	set_opfuncid(node);
	return extent_of_call(block, (Node *) node, node->opfuncid, node->inputcollid, node->args);
}

/* The same of IS DISTINCT FROM and nullif, which are there by = alone. */
static void
check_comparison(pe_block *block, OpExpr *node)
{
	if (!pe_is_comparison(node->opno))
		refuse(block, (Node *) node, "Its comparison is not one of two scalars of one type.",
			   "Compare integers, numeric, floats, texts, dates, timestamps, uuid, enum or boolean.");
	check_all(block, node->args);
	check_collation(block, (Node *) node, node->inputcollid, node->args);
}

/* nullif(x, 0) is what may be divided by. */
static pe_extent *
extent_of_nullif(pe_block *block, OpExpr *node)
{
	pe_extent  *extent;
	pe_extent  *other = pe_extent_of(block, lsecond(node->args));

	check_comparison(block, node);
	extent = pe_extent_join(pe_extent_of(block, linitial(node->args)), pe_extent_of(block, linitial(node->args)));
	if (other->has_range && other->low == 0 && other->high == 0)
		extent->is_nonzero = true;
	return extent;
}

/* x IN (...), of a list that is written out */
static pe_extent *
extent_of_list(pe_block *block, ScalarArrayOpExpr *node)
{
	Node	   *list = lsecond(node->args);
	Oid			element;

	while (IsA(list, RelabelType) ||
		   (IsA(list, ArrayCoerceExpr) && IsA(((ArrayCoerceExpr *) list)->elemexpr, RelabelType)))
		list = IsA(list, RelabelType) ? (Node *) ((RelabelType *) list)->arg : (Node *) ((ArrayCoerceExpr *) list)->arg;
	if (!pe_is_comparison(node->opno) || (!IsA(list, Const) && !IsA(list, ArrayExpr)))
		refuse(block, (Node *) node, "It is no comparison with a list of values.", "Write x IN (1, 2, 3).");
	(void) pe_extent_of(block, linitial(node->args));
	check_collation(block, (Node *) node, node->inputcollid, list_make1(linitial(node->args)));
	element = get_element_type(exprType(list));
	if (!OidIsValid(element))
		refuse(block, (Node *) node, "It is no list of scalars.", "Write x IN (1, 2, 3).");
	if (IsA(list, ArrayExpr))
		check_all(block, ((ArrayExpr *) list)->elements);
	return pe_extent_of_type(BOOLOID, -1);
}

/* ------------------------------------------------------------------
 * Forms of SQL
 * ------------------------------------------------------------------
 */

static pe_extent *
extent_of_case(pe_block *block, CaseExpr *node)
{
	pe_extent  *extent = node->defresult != NULL ? pe_extent_of(block, (Node *) node->defresult) : NULL;
	ListCell   *cell;

	if (node->arg != NULL)
		(void) pe_extent_of(block, (Node *) node->arg);
	foreach(cell, node->args)
	{
		CaseWhen   *when = lfirst_node(CaseWhen, cell);
		pe_extent  *result = pe_extent_of(block, (Node *) when->result);

		(void) pe_extent_of(block, (Node *) when->expr);
		extent = extent != NULL ? pe_extent_join(extent, result) : result;
	}
	return extent;
}

/* Of coalesce, greatest and least */
static pe_extent *
extent_of_any(pe_block *block, List *nodes)
{
	pe_extent  *extent = NULL;
	ListCell   *cell;

	foreach(cell, nodes)
	{
		pe_extent  *one = pe_extent_of(block, lfirst(cell));
		Node	   *node = lfirst(cell);

		if (IsA(node, Const) && ((Const *) node)->constisnull)
			continue;
		extent = extent != NULL ? pe_extent_join(extent, one) : one;
	}
	return extent != NULL ? extent : pe_extent_of(block, linitial(nodes));
}

static pe_extent *
extent_of_extreme(pe_block *block, MinMaxExpr *node)
{
	TypeCacheEntry *type = lookup_type_cache(node->minmaxtype, TYPECACHE_EQ_OPR);

	if (!pe_is_comparison(type->eq_opr))
		refuse(block, (Node *) node, "Its type is none with a comparison that never fails.",
			   "Use integers, numeric, floats, texts, dates or timestamps.");
	check_collation(block, (Node *) node, node->inputcollid, node->args);
	return extent_of_any(block, node->args);
}

/* A text as a value, by an input function that depends on nothing else. */
static bool
is_read_purely(const CoerceViaIO *node)
{
	Oid			function;
	Oid			parameter;

	if (type_is_enum(node->resulttype) || getBaseType(node->resulttype) != node->resulttype ||
		pe_equality_group(exprType((Node *) node->arg), DEFAULT_COLLATION_OID) != TEXTOID)
		return false;
	getTypeInputInfo(node->resulttype, &function, &parameter);
	return is_pure(function);
}

/* A value as text, by the output function of its type. */
static pe_extent *
extent_of_output(pe_block *block, CoerceViaIO *node)
{
	pe_extent  *argument = pe_extent_of(block, (Node *) node->arg);
	pe_extent  *extent = pe_extent_of_type(node->resulttype, -1);
	Oid			type = getBaseType(exprType((Node *) node->arg));

	if (getBaseType(node->resulttype) != TEXTOID && getBaseType(node->resulttype) != VARCHAROID &&
		block->prover->words->never_fails && is_read_purely(node))
	{
		believe(block, psprintf("%s does not fail, by never_fails. Without that word: keep the value in a column of "
								"its type", pe_expression_text(block, (Node *) node)));
		return pe_extent_of_type(node->resulttype, -1);
	}
	if (getBaseType(node->resulttype) != TEXTOID && getBaseType(node->resulttype) != VARCHAROID)
		refuse(block, (Node *) node, "Not every text is a value of that type.",
			   "Keep the value in a column of its type, or say which texts count: CASE x WHEN '1' THEN 1 ... END.");
	if (pe_type_is_integer(type))
		extent->length = 20;
	else if (type == BOOLOID)
		extent->length = 5;
	else if (type == UUIDOID)
		extent->length = 36;
	else if (type_is_enum(type))
		extent->length = NAMEDATALEN;
	else if (type == DATEOID || type == TIMESTAMPOID || type == TIMESTAMPTZOID)
	{
		extent->length = 80;
		block->prover->has_settings = true;
	}
	else if (type == NUMERICOID && argument->digits >= 0 && argument->scale >= 0)
		extent->length = argument->digits + argument->scale + 4;
	else
		refuse(block, (Node *) node, "Its text is not known to be there for all values.",
			   "Use integers, numeric(p,s), boolean, uuid, enum, date or timestamps.");
	return extent;
}

/* No series has more rows, for each row that it is computed for. */
#define LONGEST_SERIES 1000000

static bool
is_series(Oid function)
{
	return function == F_GENERATE_SERIES_INT4_INT4 || function == F_GENERATE_SERIES_INT4_INT4_INT4 ||
		function == F_GENERATE_SERIES_INT8_INT8 || function == F_GENERATE_SERIES_INT8_INT8_INT8;
}

/* What the rows of generate_series are, of whole numbers with ranges and a constant step; NULL for another function. */
static pe_extent *
series_of(pe_block *block, const pe_source *source)
{
	const RangeTblFunction *function = linitial(source->entry->functions);
	const FuncExpr *call = (const FuncExpr *) function->funcexpr;
	pe_extent  *start;
	pe_extent  *stop;
	pe_extent  *step = NULL;
	pe_i128		width;

	if (list_length(source->entry->functions) != 1 || source->entry->funcordinality || !IsA(call, FuncExpr) ||
		!is_series(call->funcid))
		return NULL;
	start = pe_extent_of(block, linitial(call->args));
	stop = pe_extent_of(block, lsecond(call->args));
	if (list_length(call->args) == 3)
		step = pe_extent_of(block, lthird(call->args));
	if (!start->has_range || !stop->has_range ||
		(step != NULL && (!step->has_range || step->low != step->high || step->low == 0)))
		return NULL;
	width = step != NULL && step->low < 0 ? (start->high - stop->low) / -step->low
		: (stop->high - start->low) / (step != NULL ? step->low : 1);
	return width < LONGEST_SERIES ? pe_extent_join(start, stop) : NULL;
}

static pe_extent *
extent_of_var(pe_block *block, Var *var)
{
	pe_block   *where;
	pe_source  *source = pe_source_of_var(block, var, &where);
	pe_extent  *series;

	if (var->varattno <= 0)
		pe_block_refuse(block, psprintf("%s \"%s\" in %s", var->varattno == 0 ? "the whole row of" :
										"a system column of", source->name, block->prover->part),
						"Where a row lies, and records, are no values of it.", "Name the columns.");
	if (source->kind == PE_SOURCE_TABLE && get_attgenerated(source->relation, var->varattno) == PE_GENERATED_VIRTUAL)
		pe_block_refuse(block, psprintf("column \"%s\" of \"%s\", which is computed when it is read",
										pe_source_column_name(source, var->varattno), source->name),
						"Its expression can fail.", "Use a STORED column, or write the expression in the view.");
	if (source->kind == PE_SOURCE_TABLE)
		return pe_column_extent(source, var->varattno);
	if (source->kind == PE_SOURCE_BLOCK)
		return pe_output_extent(source->block, var->varattno);
	if (source->entry->rtekind == RTE_VALUES)
	{
		pe_extent  *extent = NULL;
		ListCell   *cell;

		foreach(cell, source->entry->values_lists)
		{
			pe_extent  *one = pe_extent_of(where, list_nth(lfirst(cell), var->varattno - 1));

			extent = extent != NULL ? pe_extent_join(extent, one) : one;
		}
		return extent;
	}
	series = source->entry->rtekind == RTE_FUNCTION && var->varattno == 1 ? series_of(where, source) : NULL;
	return series != NULL ? series : pe_extent_of_type(var->vartype, var->vartypmod);
}

pe_extent *
pe_extent_of(pe_block *block, Node *node)
{
	check_stack_depth();
	switch (nodeTag(node))
	{
		case T_Var:
			return extent_of_var(block, (Var *) node);
		case T_Const:
			return pe_extent_of_const((Const *) node);
		case T_RelabelType:
			return pe_extent_of(block, (Node *) ((RelabelType *) node)->arg);
		case T_CollateExpr:
			return pe_extent_of(block, (Node *) ((CollateExpr *) node)->arg);
		case T_BoolExpr:
			check_all(block, ((BoolExpr *) node)->args);
			break;
		case T_BooleanTest:
			(void) pe_extent_of(block, (Node *) ((BooleanTest *) node)->arg);
			break;
		case T_NullTest:
			if (((NullTest *) node)->argisrow)
				refuse(block, node, "It tests a row.", "Test its columns.");
			(void) pe_extent_of(block, (Node *) ((NullTest *) node)->arg);
			break;
		case T_OpExpr:
			return extent_of_operator(block, (OpExpr *) node);
		case T_DistinctExpr:
			check_comparison(block, (OpExpr *) node);
			break;
		case T_NullIfExpr:
			return extent_of_nullif(block, (OpExpr *) node);
		case T_ScalarArrayOpExpr:
			return extent_of_list(block, (ScalarArrayOpExpr *) node);
		case T_FuncExpr:
			if (((FuncExpr *) node)->funcvariadic || ((FuncExpr *) node)->funcretset)
				refuse(block, node, "It takes or returns several values.", "Use a function of one value.");
			return extent_of_call(block, node, ((FuncExpr *) node)->funcid, ((FuncExpr *) node)->inputcollid,
								  ((FuncExpr *) node)->args);
		case T_CaseExpr:
			return extent_of_case(block, (CaseExpr *) node);
		case T_CoalesceExpr:
			return extent_of_any(block, ((CoalesceExpr *) node)->args);
		case T_MinMaxExpr:
			return extent_of_extreme(block, (MinMaxExpr *) node);
		case T_CoerceViaIO:
			return extent_of_output(block, (CoerceViaIO *) node);
		case T_Aggref:
			return pe_aggregate_extent(block, (Aggref *) node);
		case T_WindowFunc:
			return pe_window_extent(block, (WindowFunc *) node);
		case T_SubLink:
			return pe_subselect_extent(block, (SubLink *) node);
		case T_CaseTestExpr:
		case T_Param:
			return pe_extent_of_type(exprType(node), exprTypmod(node));
		case T_SQLValueFunction:
			refuse(block, node, "What it returns depends on the time or the role of the statement.",
				   "Keep the date in a public table of one row, and join that.");
			break;
		case T_CoerceToDomain:
			refuse(block, node, "The constraint of a domain can fail.", "Cast to the domain's base type.");
			break;
		default:
			refuse(block, node, "Expressions of this kind are not known to be total.",
				   "Use scalar columns, operators, CASE, coalesce, nullif, greatest, least and IN lists.");
	}
	return pe_extent_of_type(BOOLOID, -1);
}

/* ------------------------------------------------------------------
 * Blocks
 * ------------------------------------------------------------------
 */

static pe_extent *
extent_of_branches(const pe_block *block, AttrNumber number)
{
	pe_extent  *extent = NULL;
	ListCell   *cell;

	foreach(cell, block->branches)
	{
		pe_extent  *one = pe_output_extent(lfirst(cell), number);

		extent = extent != NULL ? pe_extent_join(extent, one) : one;
	}
	return extent;
}

/* Where branches have several types, values are converted: integers to wider ones, others by what can fail. */
static void
check_branch_types(pe_block *block, AttrNumber number)
{
	Node	   *whole = (Node *) list_nth_node(TargetEntry, block->query->targetList, number - 1)->expr;
	ListCell   *cell;

	foreach(cell, block->branches)
	{
		const pe_block *branch = lfirst(cell);
		Node	   *part = (Node *) list_nth_node(TargetEntry, branch->query->targetList, number - 1)->expr;

		if (exprType(part) != exprType(whole) &&
			!(pe_equality_group(exprType(whole), InvalidOid) == INT8OID &&
			  pe_equality_group(exprType(part), InvalidOid) == INT8OID))
			pe_block_refuse(block, psprintf("column \"%s\" of several types", pe_block_output_name(block, number)),
							"Its values are converted.", "Cast it to one type in each branch.");
	}
}

pe_extent *
pe_output_extent(pe_block *block, AttrNumber number)
{
	const char *part = block->prover->part;

	check_stack_depth();
	if (number < 1 || number > block->outputs)
		elog(ERROR, "column %d of %s is not there", number, block->name);
	if (block->extent[number] != NULL)
		return block->extent[number];
	block->prover->part = psprintf("column \"%s\"", pe_block_output_name(block, number));
	if (block->branches != NIL)
	{
		check_branch_types(block, number);
		block->extent[number] = extent_of_branches(block, number);
	}
	else
		block->extent[number] = pe_extent_of(block, pe_block_output(block, number));
	block->prover->part = part;
	return block->extent[number];
}

static void
check_joins(pe_block *block, Node *node)
{
	ListCell   *cell;

	if (IsA(node, RangeTblRef))
		return;
	if (IsA(node, FromExpr))
	{
		foreach(cell, ((FromExpr *) node)->fromlist)
			check_joins(block, lfirst(cell));
		block->prover->part = "WHERE";
		if (((FromExpr *) node)->quals != NULL)
			(void) pe_extent_of(block, ((FromExpr *) node)->quals);
	}
	else
	{
		JoinExpr   *join = castNode(JoinExpr, node);

		check_joins(block, join->larg);
		check_joins(block, join->rarg);
		block->prover->part = "ON";
		if (join->quals != NULL)
			(void) pe_extent_of(block, join->quals);
	}
}

static void
check_source(pe_block *block, pe_source *source)
{
	ListCell   *cell;

	if (source->kind == PE_SOURCE_BLOCK)
		pe_check_total(source->block);
	block->prover->part = "FROM";
	if (source->entry->rtekind == RTE_VALUES)
		foreach(cell, source->entry->values_lists)
			check_all(block, lfirst(cell));
	if (source->entry->rtekind == RTE_FUNCTION && series_of(block, source) == NULL)
		pe_block_refuse(block, psprintf("function \"%s\" in FROM", source->name),
						"It is not known to be total, nor to return its rows in any order.",
						"Use generate_series of integers with ranges and a constant step, keep its rows in a table, or "
						"write VALUES.");
}

void
pe_check_total(pe_block *block)
{
	ListCell   *cell;

	check_stack_depth();
	foreach(cell, block->branches)
		pe_check_total(lfirst(cell));
	for (int i = 1; i <= block->count; i++)
		if (block->source[i] != NULL)
			check_source(block, block->source[i]);
	foreach(cell, block->subselects)
		pe_check_total(((pe_subselect *) lfirst(cell))->block);
	if (block->branches == NIL)
		check_joins(block, (Node *) block->query->jointree);
	for (AttrNumber number = 1; number <= block->outputs; number++)
		(void) pe_output_extent(block, number);
	block->prover->part = "HAVING";
	if (block->query->havingQual != NULL)
		(void) pe_extent_of(block, block->query->havingQual);
	pe_check_order(block);
}
