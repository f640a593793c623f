/*
 * lineage.c
 *	  Which tables charges read.  See lineage.h.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/lsyscache.h"

#include "accounting/conversion.h"
#include "server/access.h"
#include "ledger/anchor.h"
#include "ledger/chain.h"
#include "ledger/families.h"
#include "server/settings.h"
#include "ledger/lineage.h"
#include "ledger/relation.h"
#include "server/row.h"

/* ------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------
 */

/* NULL if it is gone. */
static char *
table_name(Oid relation)
{
	char	   *name = get_rel_name(relation);
	char	   *schema = get_namespace_name(get_rel_namespace(relation));

	return name != NULL && schema != NULL ? quote_qualified_identifier(schema, name) : NULL;
}

List *
pe_lineage_order(Oid relation, List *others)
{
	List	   *rest = list_delete_oid(list_copy(others), relation);

	list_sort(rest, list_oid_cmp);
	list_deduplicate_oid(rest);
	return lcons_oid(relation, rest);
}

char *
pe_lineage_names(List *relations)
{
	StringInfoData text;
	ListCell   *cell;

	initStringInfo(&text);
	foreach(cell, relations)
	{
		char	   *name = table_name(lfirst_oid(cell));

		if (name == NULL)
			return NULL;
		appendStringInfoString(&text, text.len == 0 ? "[" : ", ");
		escape_json(&text, name);
	}
	appendStringInfoChar(&text, ']');
	return text.data;
}

void
pe_lineage_write(int64 dataset_id, int64 seq, List *relations)
{
	static pe_statement close = {NULL, "UPDATE dp_ledger.charge_relation SET last_seq = $3 - 1 "
	"WHERE dataset_id = $1 AND last_seq IS NULL AND relation_oid <> ALL ($2)", 3, {INT8OID, OIDARRAYOID, INT8OID}};
	static pe_statement open = {NULL, "INSERT INTO dp_ledger.charge_relation (dataset_id, relation_oid, "
		"relation_schema, relation_name, first_seq) SELECT $1, c.oid, n.nspname, c.relname, $3 "
		"FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
		"WHERE c.oid = ANY ($2) AND NOT EXISTS (SELECT FROM dp_ledger.charge_relation r "
		"WHERE r.dataset_id = $1 AND r.relation_oid = c.oid AND r.last_seq "
		"IS NULL)", 3, {INT8OID, OIDARRAYOID, INT8OID}};
	/* those that left as well: after a restore the names are all there is */
	static pe_statement name = {NULL, "UPDATE dp_ledger.charge_relation r "
		"SET relation_schema = n.nspname, relation_name = c.relname FROM pg_catalog.pg_class c "
		"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE r.dataset_id = $1 "
		"AND c.oid = r.relation_oid AND (r.relation_schema, r.relation_name) <> (n.nspname::text, "
		"c.relname::text)", 1, {INT8OID}};
	Datum		values[3] = {Int64GetDatum(dataset_id), pe_oid_array(relations), Int64GetDatum(seq)};

	pe_access_write(&close, values, NULL);
	pe_access_write(&open, values, NULL);
	pe_access_write(&name, values, NULL);
}

void
pe_lineage_place(int64 dataset_id, bool local)
{
	static pe_statement place = {NULL, "UPDATE dp_ledger.charge_relation r "
		"SET relation_oid = coalesce((SELECT c.oid FROM pg_catalog.pg_class c "
		"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relname = r.relation_name "
		"AND n.nspname = r.relation_schema), 0) WHERE dataset_id = $1 AND NOT ($2 AND EXISTS (SELECT "
		"FROM pg_catalog.pg_class c WHERE c.oid = r.relation_oid))", 2,
	{INT8OID, BOOLOID}};
	/* the next charge writes the tables anew */
	static pe_statement forget = {NULL, "UPDATE dp_ledger.dataset SET scanned = NULL WHERE id = $1", 1, {INT8OID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), BoolGetDatum(local)};
	pe_access	access;

	pe_access_begin(&access);
	pe_access_write(&place, values, NULL);
	pe_access_write(&forget, values, NULL);
	pe_access_end(&access);
}

/* ------------------------------------------------------------------
 * What a dataset owes
 * ------------------------------------------------------------------
 */

static bool
is_costly(pe_amount cost)
{
	return cost.rho_nano > 0 || cost.delta_atto > 0 || cost.epsilon_nano > 0;
}

/* The dataset of this number, added to those of a list unless its rows speak of other tables than those of here. */
static List *
add_other(List *others, int64 id)
{
	pe_dataset *other;
	ListCell   *cell;

	foreach(cell, others)
		if (((pe_dataset *) lfirst(cell))->id == id)
			return others;
	other = pe_dataset_recall(id);
	if (other == NULL || (other->frozen && !pe_identity_is_local(other->identity, other->relation)))
		return others;
	return lappend(others, other);
}

/* The other datasets that have read one of these tables. */
static List *
others_of(int64 dataset_id, List *relations)
{
	List	   *others = NIL;
	ListCell   *cell;
	ListCell   *inner;

	foreach(cell, relations)
	{
		Datum		key[1] = {ObjectIdGetDatum(lfirst_oid(cell))};

		foreach(inner, pe_rows("charge_relation", "charge_relation_table", key, 1))
		{
			int64		id = pe_row_int64(lfirst(inner), "dataset_id");

			if (id != dataset_id)
				others = add_other(others, id);
		}
	}
	return others;
}

/*
 * What count charges of this kind cost another cap; false if it cannot count them.  epsilon:
 * of a pure charge, which every accounting can count; 0: of another one, or of a line of the owner's.
 */
static bool
convert(pe_amount *sum, pe_amount cost, int64 epsilon, int64 count, pe_accounting from, pe_accounting to)
{
	if (from == to)
	{
		sum->rho_nano += cost.rho_nano;
		sum->delta_atto += cost.delta_atto;
		sum->epsilon_nano += cost.epsilon_nano * count;
		return true;
	}
	if (from == PE_PURE)
		epsilon = cost.epsilon_nano;
	if (epsilon == 0)
		return cost.rho_nano == 0 && cost.delta_atto == 0;
	if (to == PE_PURE)
		sum->epsilon_nano += epsilon * count;
	else
		sum->rho_nano += pe_nano_rho_of_pure(to, epsilon) * count;
	return true;
}

/*
 * What the charges of another dataset that read these tables cost a cap of this
 * accounting; false if it cannot count them.  Not what that one began with: it is
 * owed to where it came from.  A line that lifted a freeze may stand for any charge.
 */
static bool
cost_of(const pe_dataset *other, List *relations, pe_accounting accounting, pe_amount *sum)
{
	static pe_statement find = {NULL, "SELECT coalesce(sum(c.cap_rho), 0)::int8, coalesce(sum(c.cap_delta), "
		"0)::int8, c.cap_epsilon, c.epsilon, count(*) FROM dp_ledger.charge c "
		"WHERE c.dataset_id = $1 AND c.release_id IS NULL AND c.function <> '" PE_CARRIED "' "
		"AND (c.function LIKE '" PE_ATTEST "%' OR EXISTS (SELECT FROM dp_ledger.charge_relation r "
		"WHERE r.dataset_id = $1 AND r.relation_oid = ANY ($2) AND c.seq >= r.first_seq AND (r.last_seq IS NULL "
		"OR c.seq <= r.last_seq)) "
		/* a period that read one of them was paid for when the series was */
		"OR (c.series_id IS NOT NULL AND EXISTS (SELECT FROM dp_ledger.charge m "
		"JOIN dp_ledger.charge_relation r ON r.dataset_id = $1 AND r.relation_oid = ANY ($2) "
		"AND m.seq >= r.first_seq AND (r.last_seq IS NULL OR m.seq <= r.last_seq) "
		"WHERE m.series_id = c.series_id AND m.dataset_id = $1))) "
		"GROUP BY c.cap_epsilon, c.epsilon", 2, {INT8OID, OIDARRAYOID}};
	Datum		values[2] = {Int64GetDatum(other->id), pe_oid_array(relations)};
	bool		convertible = true;
	pe_access	access;
	uint64		rows;

	memset(sum, 0, sizeof(*sum));
	pe_access_begin(&access);
	rows = pe_access_read(&find, values, NULL);
	for (uint64 row = 0; row < rows; row++)
	{
		pe_amount	cost = {pe_access_int64(row, 1), pe_access_int64(row, 2), pe_access_int64(row, 3)};

		convertible = convert(sum, cost, pe_access_int64(row, 4), pe_access_int64(row, 5),
							  other->accounting, accounting) && convertible;
	}
	pe_access_end(&access);
	return convertible;
}

/* What a dataset was charged already for what its tables lost to another one. */
static pe_amount
carried_from(const pe_dataset *dataset, const pe_dataset *other)
{
	static pe_statement find = {NULL, "SELECT coalesce(sum(cap_rho), 0)::int8, coalesce(sum(cap_delta), 0)::int8, "
		"coalesce(sum(cap_epsilon), 0)::int8 FROM dp_ledger.charge WHERE dataset_id = $1 "
		"AND function = '" PE_CARRIED "' AND (request::pg_catalog.jsonb OPERATOR(pg_catalog.->>) "
		"'dataset_id')::int8 = $2", 2, {INT8OID, INT8OID}};
	Datum		values[2] = {Int64GetDatum(dataset->cap_id), Int64GetDatum(other->id)};
	pe_access	access;
	pe_amount	cost;

	pe_access_begin(&access);
	pe_access_read(&find, values, NULL);
	cost = (pe_amount) {pe_access_int64(0, 1), pe_access_int64(0, 2), pe_access_int64(0, 3)};
	pe_access_end(&access);
	return cost;
}

/* What the dataset owes the other one and was not charged yet; false if its cap cannot count it. */
static bool
owed(const pe_dataset *dataset, const pe_dataset *other, List *relations, pe_amount *left)
{
	pe_amount	sum;
	bool		convertible = cost_of(other, relations, dataset->accounting, &sum);

	*left = pe_amount_less(sum, carried_from(dataset, other));
	left->rho_nano = Max(left->rho_nano, 0);
	left->delta_atto = Max(left->delta_atto, 0);
	left->epsilon_nano = Max(left->epsilon_nano, 0);
	return convertible && (!is_costly(sum) || pe_dataset_same_protection(dataset, other));
}

void
pe_lineage_check(const pe_dataset *dataset, List *relations)
{
	ListCell   *cell;

	foreach(cell, others_of(dataset->cap_id, relations))
	{
		pe_dataset *other = lfirst(cell);
		pe_amount	left;

		/* how much it is stays the owners' */
		if (!owed(dataset, other, relations, &left) || is_costly(left))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("dataset \"%s\" has rows that dataset \"%s\" has spent on", dataset->name, other->name),
					 errdetail("A table that was read for that one came to be part of this one, whose cap does not "
							   "count what it lost."),
					 errhint("The owner can take that table out again.")));
	}
}

/* ------------------------------------------------------------------
 * Lines of the owner's own
 * ------------------------------------------------------------------
 */

static void __attribute__((noreturn))
raise_frozen(const char *message, const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_FROZEN),
			 errmsg(message, name),
			 errhint("The owner of the table lifts the freeze with dp.attest.")));
	pg_unreachable();
}

/* Writes a line that charges the cap alone; returns how far the ledger has come. */
static pe_anchor_link
append_line(const pe_dataset *dataset, const char *role, const char *function, const char *request, pe_amount cost)
{
	static pe_statement lock = {NULL, "SELECT charges, chain_head FROM dp_ledger.dataset WHERE id = $1 "
		"FOR UPDATE", 1, {INT8OID}};
	static pe_statement add;
	bool		pure = dataset->accounting == PE_PURE;
	pe_time_blocks every = {0};
	Datum		key[1] = {Int64GetDatum(dataset->id)};
	pe_charge_line line = {
		.dataset_id = dataset->id, .dataset = dataset->name, .role = role, .budget_role = "",
		.function = function, .request = request,
		.amount = {[PE_CAP_RHO] = cost.rho_nano, [PE_CAP_DELTA] = cost.delta_atto,
		[PE_CAP_EPSILON] = cost.epsilon_nano},
		.absent = {[PE_RHO] = true, [PE_DELTA] = true, [PE_EPSILON] = true,
		[PE_CAP_RHO] = pure, [PE_CAP_DELTA] = pure, [PE_CAP_EPSILON] = !pure}
	};
	pe_anchor_link link = {.relation = dataset->relation};
	bytea	   *head;
	bool		isnull;

	line.blocks = dataset->max_blocks > 0 ? pe_time_blocks_limited(every) : every;
	pe_access_write(&lock, key, NULL);
	line.seq = pe_access_int64(0, 1) + 1;
	head = DatumGetByteaPP(pe_access_datum(0, 2, &isnull));
	if (!pe_chain_ends(dataset->id, line.seq - 1, VARDATA_ANY(head)))
		raise_frozen("the ledger of dataset \"%s\" is broken", dataset->name);
	head = pe_chain_append(&line, VARDATA_ANY(head), VARSIZE_ANY_EXHDR(head));
	if (line.blocks.limited && is_costly(cost))
		(void) pe_time_blocks_charge(dataset->id, 0, every, cost);	/* all have lost it, so the most has */
	{
		pe_field	fields[] = {
			PE_INT8("id", dataset->id),
			PE_INT8("charges", line.seq),
			PE_BYTEA("chain_head", head),
			PE_AS("rho_spent + $rho_spent", PE_INT8("rho_spent", cost.rho_nano)),
			PE_AS("delta_spent + $delta_spent", PE_INT8("delta_spent", cost.delta_atto)),
			PE_AS("epsilon_spent + $epsilon_spent", PE_INT8("epsilon_spent", cost.epsilon_nano))
		};

		pe_access_update(&add, "dataset", PE_FIELDS(fields), 1, "");
	}
	link.charges = line.seq;
	memcpy(link.head, VARDATA(head), sizeof(link.head));
	return link;
}

pe_anchor_link
pe_lineage_record(const pe_dataset *dataset, const char *function, const char *request)
{
	pe_amount	nothing = {0};

	return append_line(dataset, GetUserNameFromId(GetUserId(), false), function, request, nothing);
}

static void
append_key(StringInfo text, const char *key, const char *value)
{
	appendStringInfo(text, "%s\"%s\": ", text->len == 0 ? "{" : ", ", key);
	if (value != NULL)
		escape_json(text, value);
	else
		appendStringInfoString(text, "null");
}

void
pe_lineage_record_move(const pe_dataset *dataset, Oid from, Oid to, const char *reason)
{
	pe_amount	nothing = {0};
	char	   *role = GetUserNameFromId(GetUserId(), false);
	pe_anchor_link link[2];
	StringInfoData text;
	pe_access	access;

	initStringInfo(&text);
	append_key(&text, "reason", reason);
	append_key(&text, "from", table_name(from));
	append_key(&text, "to", table_name(to));
	appendStringInfoChar(&text, '}');
	pe_access_begin(&access);
	link[0] = link[1] = append_line(dataset, role, PE_MOVED, text.data, nothing);
	pe_access_end(&access);
	/* a ledger that is put back to before the move is behind what is known of either table */
	link[0].relation = from;
	link[1].relation = to;
	pe_anchor_advance(link, 2);
}

/* PE002 if one of the tables was a part of a dataset whose ledger was written elsewhere; OIDs say nothing then. */
static void
check_no_frozen_whole(const pe_dataset *dataset, List *relations)
{
	static pe_statement find = {NULL, "SELECT DISTINCT d.id FROM dp_ledger.charge_relation r "
		"JOIN dp_ledger.dataset d ON d.id = r.dataset_id JOIN pg_catalog.pg_class c ON c.relname = r.relation_name "
		"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = r.relation_schema "
		"WHERE d.id <> $1 AND c.oid = ANY ($2) AND (d.relation_schema, d.relation_name) <> (r.relation_schema, "
		"r.relation_name)", 2, {INT8OID, OIDARRAYOID}};
	Datum		values[2] = {Int64GetDatum(dataset->cap_id), pe_oid_array(relations)};
	pe_access	access;
	List	   *frozen = NIL;
	uint64		rows;

	pe_access_begin(&access);
	rows = pe_access_read(&find, values, NULL);
	for (uint64 row = 0; row < rows; row++)
	{
		pe_dataset *other = pe_dataset_recall(pe_access_int64(row, 1));

		if (other != NULL && other->frozen)
			frozen = lappend(frozen, other);
	}
	if (frozen != NIL)
		raise_frozen("a table of the dataset was part of dataset \"%s\", which is frozen",
					 ((pe_dataset *) linitial(frozen))->name);
	pe_access_end(&access);
}

static void
carry_from(pe_dataset *dataset, const pe_dataset *other, List *relations, const char *role)
{
	pe_amount	left;
	StringInfoData text;

	if (!owed(dataset, other, relations, &left))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a table of the dataset was read for dataset \"%s\", with another unit, other neighbours "
						"or another accounting", other->name),
				 errdetail("What was spent then was measured in those terms and cannot be carried over.")));
	if (!is_costly(left))
		return;
	if (!pe_filter_accepts(dataset->limit, dataset->spent, left))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the cap is below what the table has lost already"),
				 errdetail("As part of dataset \"%s\" it lost %s.", other->name, pe_spending(left))));
	initStringInfo(&text);
	append_key(&text, "dataset", other->name);
	appendStringInfo(&text, ", \"dataset_id\": " INT64_FORMAT "}", other->id);
	append_line(pe_dataset_of_cap(dataset), role, PE_CARRIED, text.data, left);
	dataset->spent.rho_nano += left.rho_nano;
	dataset->spent.delta_atto += left.delta_atto;
	dataset->spent.epsilon_nano += left.epsilon_nano;
}

void
pe_lineage_carry(const pe_dataset *dataset)
{
	List	   *relations = pe_families_read(dataset);
	pe_dataset	with = *dataset;
	char	   *role = GetUserNameFromId(GetUserId(), false);
	ListCell   *cell;
	pe_access	access;

	pe_access_begin(&access);
	check_no_frozen_whole(dataset, relations);
	foreach(cell, others_of(dataset->cap_id, relations))
		carry_from(&with, lfirst(cell), relations, role);
	pe_access_end(&access);
}
