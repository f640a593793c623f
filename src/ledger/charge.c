/*
 * charge.c
 *	  The ledger's own transactions.  See charge.h.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "nodes/pg_list.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

#include "accounting/filter.h"
#include "server/access.h"
#include "ledger/acts.h"
#include "ledger/anchor_command.h"
#include "ledger/chain.h"
#include "ledger/charge.h"
#include "server/settings.h"
#include "ledger/lineage.h"
#include "ledger/models.h"
#include "ledger/promotion.h"
#include "ledger/series.h"
#include "ledger/standby.h"
#include "ledger/dataset.h"
#include "ledger/families.h"
#include "ledger/formats.h"
#include "server/row.h"
#include "ledger/strategies.h"
#include "ledger/relation.h"

/* ------------------------------------------------------------------
 * Replay
 * ------------------------------------------------------------------
 */

#define MOST_RELEASES "1000"

#define FIND_RELEASE(before) \
	"SELECT r.id, r.payload, p.paid, coalesce(r.strategy_id, 0), r.created, r.other_strategies, r.format FROM " \
	"(SELECT id, charge_id, payload, strategy_id, created, other_strategies, format FROM dp_ledger.release " \
	"WHERE dataset_id = $1 AND version = $2 AND request_hash = $3 AND request = $5 AND payload IS NOT NULL " \
	"ORDER BY id DESC LIMIT " MOST_RELEASES ") r, LATERAL " \
	"(SELECT EXISTS (SELECT FROM dp_ledger.charge c WHERE c.budget_id = $4 AND (c.id = r.charge_id " \
	"OR c.release_id = r.id)) AS paid) p ORDER BY p.paid DESC, " before "r.id DESC LIMIT 1"

/*
 * The newest release of the same request in the same version of the data: paid
 * by this budget, or else by any; of several the one whose model has the name that
 * is asked for.  Sets *paid to which it is.  No more than the newest MOST_RELEASES
 * are looked at: the worker must not be long at what costs nothing.
 */
static bool
find_release(const pe_charge_request *request, pe_charge_reply *reply, bool *paid)
{
	static pe_statement find = {NULL, FIND_RELEASE(""), 5, {INT8OID, INT4OID, BYTEAOID, INT8OID, TEXTOID}};
	static pe_statement find_model = {NULL,
		FIND_RELEASE("EXISTS (SELECT FROM dp_ledger.model m WHERE m.model = $6 AND m.release_id = r.id) DESC, "), 6,
	{INT8OID, INT4OID, BYTEAOID, INT8OID, TEXTOID, TEXTOID}};
	const char *name = request->model != NULL ? request->model->name : NULL;
	Datum		values[6] = {
		Int64GetDatum(request->dataset_id), Int32GetDatum((int32) request->version),
		PointerGetDatum(pe_request_hash(request->request)), Int64GetDatum(request->budget_id),
		CStringGetTextDatum(request->request), CStringGetTextDatum(name != NULL ? name : "")
	};
	bool		isnull;

	/* most requests are new: their key alone shows it */
	if (request->fresh || pe_row_last("release", "release_request", values, 3) == NULL ||
		pe_access_write(name != NULL ? &find_model : &find, values, NULL) == 0)
		return false;
	reply->release_id = pe_access_int64(0, 1);
	PE_CHECK_FORMAT(pe_access_int64(0, 7), "release " INT64_FORMAT, reply->release_id);
	reply->value = pe_payload_read(DatumGetByteaPP(pe_access_datum(0, 2, &isnull)), &reply->values);
	*paid = pe_access_int64(0, 3) != 0;
	reply->strategy_id = pe_access_int64(0, 4);
	reply->made = pe_access_int64(0, 5);
	reply->other = pe_access_int64s(0, 6, &reply->others);
	return true;
}

/* ------------------------------------------------------------------
 * Batches
 * ------------------------------------------------------------------
 */

/* A budget, locked. */
typedef struct account
{
	int64		budget_id;
	char	   *role;
	pe_accounting accounting;
	int64		most;			/* nano, that one request may cost; 0: no limit */
	bool		per_block;		/* limit and spent are of each block (time_blocks.h) */
	pe_amount	limit;
	pe_amount	spent;			/* with this batch */
	pe_amount	charged;		/* by this batch */
	pe_row	   *row;
} account;

/* A dataset that is asked, locked, whose cap is a book's. */
typedef struct member
{
	int64		id;
	char	   *name;
	Oid			relation;
	int64		version;
	int			declarations;
	int64		cap_id;
	bool		changed;
	pe_row	   *row;			/* NULL: that of the book */
} member;

/* A dataset with a cap, locked, and those of its budgets that are. */
typedef struct book
{
	member	   *asked;			/* which of those that share the cap the request in hand is of */
	int64		dataset_id;
	char	   *name;
	Oid			relation;
	pe_accounting accounting;	/* of the cap */
	bool		has_blocks;		/* limit and spent are of each of them (time_blocks.h) */
	pe_amount	limit;
	pe_amount	spent;			/* with this batch */
	pe_amount	charged;		/* by this batch */
	int64		charges;		/* with this batch */
	int64		acts;			/* with this batch */
	bool		has_standby;	/* what the ledger says of the sole standby is right */
	bytea	   *head;
	bytea	   *scanned;		/* hash of the tables that the last charge read; NULL: not known */
	List	   *accounts;
	bool		changed;
	pe_row	   *row;
} book;

struct pe_batch
{
	pe_anchor_link *settled;	/* of pe_batch_settle */
	int			settled_count;
	List	   *books;
	List	   *members;
	MemoryContext context;
	pe_access	access;
};

static void
add_cost(pe_amount *to, pe_amount cost)
{
	to->rho_nano += cost.rho_nano;
	to->delta_atto += cost.delta_atto;
	to->epsilon_nano += cost.epsilon_nano;
}

static void __attribute__((noreturn))
raise_frozen(const char *dataset, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_PE_FROZEN),
			 errmsg("dataset \"%s\" is frozen", dataset),
			 errdetail("%s", detail),
			 errhint("Answers that were paid are returned; the owner of the table lifts the freeze with dp.attest.")));
	pg_unreachable();
}

static void __attribute__((noreturn))
raise_stale(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the dataset or the budget was changed while the request was made"),
			 errhint("Ask again.")));
	pg_unreachable();
}

/* The last line must be the one that the head says: a line put back, added or edited breaks the chain. */
static void
check_chain(const book *b)
{
	if (!pe_chain_ends(b->dataset_id, b->charges, VARDATA_ANY(b->head)))
		raise_frozen(b->name, "The chain of its charges is broken.");
	if (pe_anchor_fault(b->dataset_id, b->relation, b->charges, VARDATA_ANY(b->head), false) != NULL)
		raise_frozen(b->name, "The anchor remembers other charges: its ledger was put back, or begun anew, or another "
					 "server goes on with it.");
}

static account *
account_of_row(pe_row *row)
{
	account    *a = palloc0(sizeof(*a));
	char	   *name = GetUserNameFromId((Oid) pe_row_int64(row, "role_oid"), true);

	a->row = row;
	a->budget_id = pe_row_int64(row, "id");
	a->role = name != NULL ? name : pe_row_text(row, "role_name");
	a->accounting = pe_accounting_of(pe_row_text(row, "accounting"));
	a->most = pe_row_int64(row, "most");
	a->per_block = pe_row_bool(row, "per_block");
	a->limit = pe_limit_of_row(row);
	a->spent = pe_spent_of_row(row);
	return a;
}

static book *
book_of_row(pe_row *row)
{
	book	   *b = palloc0(sizeof(*b));

	b->row = row;
	b->dataset_id = pe_row_int64(row, "id");
	b->name = pe_row_text(row, "dataset");
	PE_CHECK_FORMAT(pe_row_int64(row, "format"), "dataset \"%s\"", b->name);
	b->relation = (Oid) pe_row_int64(row, "relation_oid");
	if (pe_identity_is_frozen(pe_row_text(row, "identity"), b->relation))
		raise_frozen(b->name, pe_promotion_reason(pe_row_text(row, "identity"), b->relation));
	b->accounting = pe_accounting_of(pe_row_text(row, "accounting"));
	b->has_blocks = pe_row_int64(row, "max_blocks") > 0;
	b->charges = pe_row_int64(row, "charges");
	b->acts = pe_row_int64(row, "acts");
	b->head = pe_row_bytea(row, "chain_head");
	b->scanned = pe_row_bytea(row, "scanned");
	b->limit = pe_limit_of_row(row);
	b->spent = pe_spent_of_row(row);
	return b;
}

static book *
find_book(pe_batch *batch, int64 dataset_id)
{
	ListCell   *cell;

	foreach(cell, batch->books)
		if (((book *) lfirst(cell))->dataset_id == dataset_id)
			return lfirst(cell);
	return NULL;
}

static account *
find_account(book *b, int64 budget_id)
{
	ListCell   *cell;

	foreach(cell, b->accounts)
		if (((account *) lfirst(cell))->budget_id == budget_id)
			return lfirst(cell);
	return NULL;
}

/*
 * The row with this number, locked.  NULL if somebody else holds it: the worker
 * serves others and must not wait.
 */
static pe_row *
lock_numbered(const char *table, const char *index, int64 id)
{
	Datum		key[1] = {Int64GetDatum(id)};
	pe_row	   *row = pe_row_last(table, index, key, 1);
	pe_row_lock_result result = row != NULL ? pe_row_lock(row) : PE_ROW_GONE;

	if (result == PE_ROW_GONE)
		raise_stale();
	return result == PE_ROW_LOCKED ? row : NULL;
}

static book *
add_book(pe_batch *batch, pe_row *row)
{
	book	   *b = book_of_row(row);

	check_chain(b);
	batch->books = lappend(batch->books, b);
	return b;
}

static book *
open_book(pe_batch *batch, int64 dataset_id)
{
	book	   *b = find_book(batch, dataset_id);
	pe_row	   *row;

	if (b != NULL)
		return b;
	row = lock_numbered("dataset", "dataset_pkey", dataset_id);
	if (row == NULL)
		return NULL;
	if (pe_row_bool(row, "dropped"))
		raise_stale();
	return add_book(batch, row);
}

static member *
find_member(pe_batch *batch, int64 dataset_id)
{
	ListCell   *cell;

	foreach(cell, batch->members)
		if (((member *) lfirst(cell))->id == dataset_id)
			return lfirst(cell);
	return NULL;
}

static member *
member_of_row(pe_row *row)
{
	member	   *m = palloc0(sizeof(*m));

	m->id = pe_row_int64(row, "id");
	m->name = pe_row_text(row, "dataset");
	PE_CHECK_FORMAT(pe_row_int64(row, "format"), "dataset \"%s\"", m->name);
	m->relation = (Oid) pe_row_int64(row, "relation_oid");
	m->version = pe_row_int64(row, "version");
	m->declarations = (int) pe_row_int64(row, "declarations");
	m->cap_id = pe_row_int64(row, "cap_id");
	if (m->cap_id == 0)
		m->cap_id = m->id;
	else if (pe_identity_is_frozen(pe_row_text(row, "identity"), m->relation))
		raise_frozen(m->name, "It was registered in another cluster, timeline or database.");
	return m;
}

/* The dataset that is asked, and the one that has its cap, which is mostly itself; false if somebody else holds one. */
static book *
open_asked(pe_batch *batch, int64 dataset_id)
{
	member	   *m = find_member(batch, dataset_id);
	book	   *b = m != NULL ? find_book(batch, m->cap_id) : NULL;

	if (m == NULL)
	{
		pe_row	   *row = lock_numbered("dataset", "dataset_pkey", dataset_id);

		if (row == NULL)
			return NULL;
		if (pe_row_bool(row, "dropped"))
			raise_stale();
		m = member_of_row(row);
		b = m->cap_id == m->id ? find_book(batch, m->id) : open_book(batch, m->cap_id);
		if (b == NULL && m->cap_id == m->id)
			b = add_book(batch, row);
		if (b == NULL)
			return NULL;
		m->row = m->cap_id != m->id ? row : NULL;
		batch->members = lappend(batch->members, m);
	}
	b->asked = m;
	return b;
}

static account *
open_account(book *b, int64 budget_id)
{
	account    *a = find_account(b, budget_id);
	pe_row	   *row;

	if (a != NULL)
		return a;
	row = lock_numbered("budget", "budget_pkey", budget_id);
	if (row == NULL)
		return NULL;
	if (pe_row_int64(row, "dataset_id") != b->dataset_id)
		raise_stale();
	a = account_of_row(row);
	b->accounts = lappend(b->accounts, a);
	return a;
}

/* Locks the dataset and the budget and reads them, unless the batch has done so; false if somebody else holds one. */
static bool
open_both(pe_batch *batch, const pe_charge_request *request, book **b, account **a)
{
	MemoryContext spi = MemoryContextSwitchTo(batch->context);

	*b = open_asked(batch, request->dataset_id);
	*a = *b != NULL ? open_account(*b, request->budget_id) : NULL;
	MemoryContextSwitchTo(spi);
	return *a != NULL;
}

/* ------------------------------------------------------------------
 * The filter and the charge
 * ------------------------------------------------------------------
 */

static bool
same_bytes(const bytea *a, const bytea *b)
{
	return a != NULL && VARSIZE_ANY_EXHDR(a) == VARSIZE_ANY_EXHDR(b) &&
		memcmp(VARDATA_ANY(a), VARDATA_ANY(b), VARSIZE_ANY_EXHDR(b)) == 0;
}

/* Remembers which tables the next charge reads; where they are those of the last one nothing is written. */
static void
note_relations(const pe_charge_request *request, book *b, pe_charge_line *line)
{
	List	   *relations = request->relations != NIL ? request->relations
		: pe_lineage_order(b->asked->relation, pe_families_read(pe_dataset_recall(b->asked->id)));
	char	   *names = pe_lineage_names(relations);
	int			count = list_length(relations);
	Oid		   *oids = palloc(count * sizeof(Oid));
	bytea	   *hash;

	if (names == NULL)
		raise_stale();
	for (int i = 0; i < count; i++)
		oids[i] = list_nth_oid(relations, i);
	hash = pe_sha256(oids, count * sizeof(Oid), names, strlen(names));
	if (same_bytes(b->scanned, hash))
		return;
	pe_lineage_write(b->dataset_id, line->seq, relations);
	line->relations = names;
	b->scanned = hash;
}

/* The store of a period reads nothing more than its attempt. */
static bool
reads_rows(const pe_charge_request *request)
{
	return request->series == NULL || request->series->created != NULL || request->relations != NIL;
}

static bool
costs_nothing(pe_amount cost)
{
	return cost.rho_nano == 0 && cost.delta_atto == 0 && cost.epsilon_nano == 0;
}

/*
 * Adds a cost to what is spent and charged: where blocks count by themselves,
 * what it adds to the block that has lost most.
 */
static void
spend(const book *b, int64 budget_id, bool by_block, pe_time_blocks blocks, pe_amount cost, pe_amount *spent,
	  pe_amount *charged)
{
	pe_amount	more = cost;

	if (costs_nothing(cost))
		return;
	if (by_block)
		more = pe_amount_less(pe_time_blocks_charge(b->dataset_id, budget_id, blocks, cost), *spent);
	add_cost(spent, more);
	add_cost(charged, more);
}

/* Before the first charge of the batch to a dataset: which standby must have it is an act before it. */
static void
note_standby(book *b)
{
	pe_act_line line = {.dataset_id = b->dataset_id, .seq = b->acts + 1, .charges = b->charges, .dataset = b->name};

	if (b->has_standby)
		return;
	b->has_standby = true;
	if (!pe_standby_note(b->dataset_id, b->acts, &line))
		return;
	b->head = pe_act_append(&line, VARDATA_ANY(b->head));
	b->acts++;
	b->changed = true;
}

static int64
write_charge(const pe_charge_request *request, pe_amount cost, book *b, account *a, pe_amount cap_cost,
			 int64 release_id)
{
	bool		pure = a->accounting == PE_PURE;
	bool		cap_pure = b->accounting == PE_PURE;
	pe_charge_line line = {
		.dataset_id = b->dataset_id, .seq = b->charges + 1, .dataset = b->asked->name,
		.role = request->role, .budget_id = a->budget_id, .budget_role = a->role,
		.function = request->function, .request = request->request, .release_id = release_id,
		.strategy_id = release_id == 0 ? request->strategy_id : 0,
		.others = release_id == 0 ? request->others : 0, .other = request->other,
		.series_id = request->series != NULL ? request->series->id : 0,
		.blocks = b->has_blocks ? pe_time_blocks_limited(request->blocks) : (pe_time_blocks) {0},
		.amount = {[PE_RHO] = cost.rho_nano, [PE_DELTA] = cost.delta_atto,
		[PE_EPSILON] = cost.epsilon_nano, [PE_CAP_RHO] = cap_cost.rho_nano, [PE_CAP_DELTA] = cap_cost.delta_atto,
		[PE_CAP_EPSILON] = cap_cost.epsilon_nano},
		.absent = {[PE_RHO] = pure, [PE_DELTA] = pure, [PE_EPSILON] = !pure,
		[PE_CAP_RHO] = cap_pure, [PE_CAP_DELTA] = cap_pure, [PE_CAP_EPSILON] = !cap_pure}
	};

	note_standby(b);
	if (release_id == 0 && reads_rows(request))
		note_relations(request, b, &line);
	b->head = pe_chain_append(&line, VARDATA_ANY(b->head), VARSIZE_ANY_EXHDR(b->head));
	b->charges++;
	b->changed = b->asked->changed = true;
	spend(b, a->budget_id, a->per_block, request->blocks, cost, &a->spent, &a->charged);
	spend(b, 0, b->has_blocks, request->blocks, cap_cost, &b->spent, &b->charged);
	return line.id;
}

/* What counts as spent for a request. */
static pe_amount
spent_of_account(const book *b, const account *a, const pe_charge_request *request)
{
	return a->per_block ? pe_time_blocks_spent(b->dataset_id, a->budget_id, request->blocks) : a->spent;
}

static pe_amount
spent_of_book(const book *b, const pe_charge_request *request)
{
	return b->has_blocks ? pe_time_blocks_spent(b->dataset_id, 0, request->blocks) : b->spent;
}

/* The budget alone: what is left of the cap says what others spent. */
static void
tell_left(const book *b, const account *a, const pe_charge_request *request, pe_charge_reply *reply)
{
	pe_amount	left = pe_amount_less(a->limit, spent_of_account(b, a, request));

	reply->left = pe_nano_left(left, a->accounting);
	reply->delta_left = left.delta_atto;
}

/* Of a charge that the budget does not admit. */
static pe_shortage
shortage_of(const account *a, pe_amount spent, pe_amount cost)
{
	cost.delta_atto = 0;
	return pe_filter_accepts(a->limit, spent, cost) ? PE_SHORT_DELTA : PE_SHORT_BUDGET;
}

/*
 * 55000 for another version, attributes that were altered or dropped since, an
 * attested dataset whose rows nobody would read, another table, a budget
 * of another accounting.
 */
static void
check_current(const pe_charge_request *request, const pe_charge_price *price, const book *b, const account *a)
{
	const member *m = b->asked;

	if (m->version != request->version || m->declarations != request->declarations || request->replay_only ||
		(request->relations != NIL && linitial_oid(request->relations) != m->relation) ||
		a->accounting != price->accounting || (price->amount.epsilon_nano <= 0 && price->amount.rho_nano <= 0))
		raise_stale();
}

/* Whether both filters accept; the reply says what does not suffice. */
static bool
is_accepted(const book *b, const account *a, const pe_charge_request *request, pe_amount cost, pe_amount cap_cost,
			pe_charge_reply *reply)
{
	pe_amount	spent = spent_of_account(b, a, request);

	tell_left(b, a, request, reply);
	reply->outcome = PE_REFUSED;
	reply->shortage = PE_SHORT_CAP;
	/* where less is left, that is said */
	if (!pe_filter_allows(a->most, cost) && a->most <= reply->left)
	{
		reply->shortage = PE_SHORT_REQUEST;
		reply->left = a->most;
		return false;
	}
	if (!pe_filter_accepts(a->limit, spent, cost))
	{
		reply->shortage = shortage_of(a, spent, cost);
		return false;
	}
	return pe_filter_accepts(b->limit, spent_of_book(b, request), cap_cost);
}

static bool
is_prolonged(const pe_charge_request *request)
{
	return request->series != NULL && request->series->created != NULL && request->series->id != 0;
}

/* Blocks that a prolonged series comes to, which it had not paid for; false if there are none. */
static bool
find_new_blocks(const pe_charge_request *request, const book *b, pe_charge_request *of_new)
{
	if (!b->has_blocks || !is_prolonged(request))
		return false;
	*of_new = *request;
	of_new->blocks.first = pe_series_last_block(request->series);
	if (of_new->blocks.first++ == PE_TIME_BLOCK_LAST)
		return false;
	of_new->function = PE_PROLONG_NEW;
	return of_new->blocks.first <= of_new->blocks.last;
}

/* What the series has cost so far, which they have not lost: their rows lose the whole series. */
static pe_amount
paid_before(const pe_charge_request *request)
{
	return (pe_amount) {.rho_nano = pe_series_paid(request->series)};
}

/* Whether blocks that a prolonged series comes to can pay all of it. */
static bool
is_accepted_of_new(const pe_charge_request *request, const pe_charge_price *price, const book *b, const account *a,
				   pe_charge_reply *reply)
{
	pe_charge_request of_new;
	pe_amount	whole = price->amount;

	if (!find_new_blocks(request, b, &of_new))
		return true;
	add_cost(&whole, paid_before(request));
	return is_accepted(b, a, &of_new, a->per_block ? whole : price->amount, whole, reply);
}

/* Under the lock of the dataset's row: what is charged is the difference to the periods that the row has. */
static int64
write_prolonged(const pe_charge_request *request, const pe_charge_price *price, book *b, account *a, pe_amount cap_cost)
{
	pe_charge_request of_new;
	pe_amount	nothing = {0};
	pe_amount	before = paid_before(request);
	bool		has_new = find_new_blocks(request, b, &of_new);

	(void) pe_series_check_open(request->series, b->asked->id, b->asked->version);
	pe_series_prolong(request->series->created, request->series->id, price->amount.rho_nano);
	if (has_new)
		(void) write_charge(&of_new, a->per_block ? before : nothing, b, a, before, 0);
	return write_charge(request, price->amount, b, a, cap_cost, 0);
}

/* The line of a charge, and of a series its row. */
static int64
write_request(const pe_charge_request *request, const pe_charge_price *price, book *b, account *a, pe_amount cap_cost,
			  int64 release_id)
{
	pe_charge_request numbered = *request;
	pe_series_request series;
	int64		charge_id;

	if (request->series == NULL)
		return write_charge(request, price->amount, b, a, cap_cost, release_id);
	series = *request->series;
	if (series.id != 0)
		return write_prolonged(request, price, b, a, cap_cost);
	series.id = pe_series_number(series.created);
	numbered.series = &series;
	charge_id = write_charge(&numbered, price->amount, b, a, cap_cost, 0);
	pe_series_insert(series.created, request, price, series.id, charge_id);
	return charge_id;
}

static void
check_strategies(const pe_charge_request *request)
{
	pe_strategy_check_kept(request->strategy_id);
	for (int i = 0; i < request->others; i++)
		pe_strategy_check_kept(request->other[i]);
}

/* Charges if both filters accept.  A release that exists costs the cap nothing more. */
static void
charge_or_refuse(pe_batch *batch, const pe_charge_request *request, const pe_charge_price *price,
				 pe_charge_reply *reply)
{
	pe_amount	cap_cost = {0};
	book	   *b;
	account    *a;

	reply->outcome = PE_BUSY;
	if (!open_both(batch, request, &b, &a))
		return;
	check_current(request, price, b, a);
	if (reply->release_id == 0)
		cap_cost = pe_cap_amount(price->amount, price->as_rho, b->accounting);
	if (!is_accepted(b, a, request, price->amount, cap_cost, reply) || !is_accepted_of_new(request, price, b, a, reply))
		return;
	if (reply->release_id == 0)
		check_strategies(request);
	reply->charge_id = write_request(request, price, b, a, cap_cost, reply->release_id);
	tell_left(b, a, request, reply);
	reply->outcome = reply->release_id == 0 ? PE_CHARGED : PE_REPLAYED;
}

/* ------------------------------------------------------------------
 * Periods of series
 * ------------------------------------------------------------------
 */

/* The line of an attempt, or of a stored measurement.  what: the rest of the request. */
static int64
write_period_line(const pe_charge_request *request, pe_amount cost, book *b, account *a, pe_amount cap_cost,
				  const char *kind, const char *what)
{
	pe_charge_request own = *request;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "{\"kind\": \"%s\", \"series\": ", kind);
	escape_json(&text, pe_series_check_open(request->series, b->asked->id, b->asked->version));
	appendStringInfo(&text, ", \"period\": %d, %s}", request->series->period + 1, what);
	own.request = text.data;
	return write_charge(&own, cost, b, a, cap_cost, 0);
}

/* A cancelled attempt shows how long it took: after the third one it costs what one draw of the period does. */
static void
attempt_or_refuse(pe_batch *batch, const pe_charge_request *request, const pe_charge_price *price,
				  pe_charge_reply *reply)
{
	pe_amount	cost = {0};
	pe_amount	cap_cost = {0};
	book	   *b;
	account    *a;
	int			attempt;

	reply->outcome = PE_BUSY;
	if (!open_both(batch, request, &b, &a))
		return;
	check_current(request, price, b, a);
	(void) pe_series_check_open(request->series, b->asked->id, b->asked->version);
	if (b->has_blocks && !pe_series_has_blocks(request->series, request->blocks))
		raise_stale();
	attempt = pe_series_next_attempt(request->series);
	if (attempt > PE_FREE_ATTEMPTS)
	{
		cost = price->amount;
		cap_cost = pe_cap_amount(cost, price->as_rho, b->accounting);
		reply->costs = true;
	}
	if (!is_accepted(b, a, request, cost, cap_cost, reply))
		return;
	reply->charge_id = write_period_line(request, cost, b, a, cap_cost, "attempt",
										 psprintf("\"attempt\": %d", attempt));
	pe_series_count_attempt(request->series, attempt);
	tell_left(b, a, request, reply);
	reply->outcome = PE_CHARGED;
}

/* Under the lock of the dataset's row there is no other measurement, and none comes. */
static void
store_period(const pe_charge_request *request, const int64 *value, int64 values, book *b, account *a,
			 pe_charge_reply *reply)
{
	pe_amount	nothing = {0};
	bytea	   *payload = pe_payload_write(value, values);

	reply->charge_id = write_period_line(request, nothing, b, a, nothing, "report",
										 psprintf("\"sha256\": \"%s\"", pe_payload_digest(payload)));
	pe_series_store(request->series, reply->charge_id, payload);
	pe_wipe(VARDATA(payload), VARSIZE(payload) - VARHDRSZ);
	reply->outcome = PE_CHARGED;
}

void
pe_batch_store_period(pe_batch *batch, const pe_charge_request *request, const int64 *value, int64 values,
					  pe_charge_reply *reply)
{
	book	   *b;
	account    *a;

	memset(reply, 0, sizeof(*reply));
	reply->outcome = PE_BUSY;
	if (!open_both(batch, request, &b, &a))
		return;
	if (pe_series_stored(request->series, reply))
		reply->outcome = PE_REPLAYED;
	else
		store_period(request, value, values, b, a, reply);
}

/* ------------------------------------------------------------------
 * What a worker does in one transaction
 * ------------------------------------------------------------------
 */

pe_batch *
pe_batch_begin(void)
{
	pe_batch   *batch = palloc0(sizeof(*batch));

	batch->context = CurrentMemoryContext;
	pe_standby_begin();
	pe_access_begin(&batch->access);
	MemoryContextSwitchTo(batch->context);
	return batch;
}

void
pe_batch_reserve(pe_batch *batch, const pe_charge_request *request, const pe_charge_price *price,
				 pe_charge_reply *reply)
{
	bool		paid = false;
	bool		is_period = request->series != NULL && request->series->created == NULL;

	memset(reply, 0, sizeof(*reply));
	if (is_period ? pe_series_stored(request->series, reply) : find_release(request, reply, &paid) && paid)
		reply->outcome = PE_REPLAYED;
	else if (request->known_only && !is_period)
	{
		reply->outcome = PE_REFUSED;
		reply->shortage = PE_SHORT_UNKNOWN;
	}
	else if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
				 errmsg("a standby cannot charge"),
				 errhint("Answers that were paid on the primary are replayed here; ask the rest there.")));
	else if (is_period)
		attempt_or_refuse(batch, request, price, reply);
	else
		charge_or_refuse(batch, request, price, reply);
	if (request->model != NULL && (reply->outcome == PE_REPLAYED || reply->outcome == PE_CHARGED))
		pe_model_reserve_name(request, reply);
	if (reply->outcome != PE_REPLAYED)
	{
		/* not paid for: what another budget's release says stays here */
		reply->release_id = 0;
		reply->made = 0;
		reply->strategy_id = 0;
		reply->others = 0;
		reply->values = 0;
	}
}

static pe_row *
row_of_dataset(int64 id)
{
	Datum		key[1] = {Int64GetDatum(id)};

	return pe_row_last("dataset", "dataset_pkey", key, 1);
}

/* Whether the anchor's command does not know the last line, as far as this worker knows. */
static bool
is_ahead_of_anchor(const pe_row *row, pe_anchor_link *link)
{
	pe_anchor_link known = {.relation = (Oid) pe_row_int64(row, "relation_oid")};

	if (pe_anchor_command[0] == '\0' || pe_row_bool(row, "dropped") ||
		pe_identity_is_frozen(pe_row_text(row, "identity"), known.relation))
		return false;
	*link = known;
	link->charges = pe_row_int64(row, "charges");
	memcpy(link->head, VARDATA_ANY(pe_row_bytea(row, "chain_head")), PG_SHA256_DIGEST_LENGTH);
	pe_anchor_command_get(&known, 1, false);
	/* where it knows other charges the ledger is frozen, and returns what it says was paid */
	return known.charges < link->charges && (known.charges == PE_ANCHOR_NOTHING ||
		pe_anchor_differs(pe_row_int64(row, "id"), link->charges, link->head, &known, PE_ANCHOR_NAME) == NULL);
}

bool
pe_batch_rests(pe_batch *batch, int64 dataset_id, pe_anchor_link *link)
{
	pe_row	   *row = RecoveryInProgress() ? NULL : row_of_dataset(dataset_id);
	int64		cap_id = row != NULL ? pe_row_int64(row, "cap_id") : 0;
	bool		rests;
	book	   *b;

	link->charges = 0;
	if (cap_id != 0)
		row = row_of_dataset(dataset_id = cap_id);
	if (row == NULL)
		return false;
	b = find_book(batch, dataset_id);
	/* what is charged in this very batch is waited for, and may be what is answered */
	if (b != NULL && b->changed)
		return true;
	rests = pe_standby_rests(dataset_id, pe_row_int64(row, "acts"));
	if (is_ahead_of_anchor(row, link))
		return true;
	link->charges = 0;
	return rests;
}

/*
 * Of the noise, which everybody may know, also its sensitivity; of a model or a
 * minimum nothing: it was of many kinds; of sizes of units the request says it.
 */
static int64
insert_release(const pe_charge_request *request, const pe_charge_price *price, int64 charge_id, const int64 *value,
			   int64 values)
{
	int64		id = pe_row_next("release_id_seq");
	bool		has_noise = request->workload != NULL;
	bool		pure = price->accounting == PE_PURE;
	Datum		sensitivity = !has_noise ? (Datum) 0
		: DirectFunctionCall3(numeric_in, CStringGetDatum(price->sensitivity), ObjectIdGetDatum(InvalidOid),
							  Int32GetDatum(-1));
	pe_field	fields[] = {
		PE_INT8("id", id),
		PE_INT8("charge_id", charge_id),
		PE_INT8("dataset_id", request->dataset_id),
		PE_INT4("version", (int32) request->version),
		PE_INT4("declared", request->declared),
		PE_TEXT("request", request->request),
		PE_BYTEA("request_hash", pe_request_hash(request->request)),
		PE_TEXTS("attributes", request->attribute, request->attributes),
		PE_TEXT("workload", request->workload),
		PE_TEXT("predicate", request->predicate),
		PE_TEXT("method", request->method),
		PE_INT4("queries", request->queries),
		PE_TEXT("accounting", pe_accounting_name(price->accounting)),
		PE_IF(has_noise && pure, PE_DATUM("sensitivity_l1", NUMERICOID, sensitivity)),
		PE_IF(has_noise && pure, PE_INT8("epsilon", price->amount.epsilon_nano)),
		PE_IF(has_noise && !pure, PE_DATUM("sensitivity_sq", NUMERICOID, sensitivity)),
		PE_IF(has_noise && !pure, PE_INT8("rho", price->amount.rho_nano)),
		PE_IF(request->strategy_id != 0, PE_INT8("strategy_id", request->strategy_id)),
		PE_IF(request->others > 0, PE_INT8S("other_strategies", request->other, request->others)),
		PE_BYTEA("payload", pe_payload_write(value, values)),
		PE_INT4("format", PE_FORMAT),
		PE_TIMESTAMPTZ("created", GetCurrentTransactionStartTimestamp())
	};

	pe_row_insert("release", PE_FIELDS(fields));
	return id;
}

int64
pe_release_store(const pe_charge_request *request, const pe_charge_price *price, int64 charge_id, const int64 *value,
				 int64 values)
{
	Datum		key[1] = {Int64GetDatum(charge_id)};
	pe_row	   *stored = pe_row_last("release", "release_charge_id_key", key, 1);
	/* it is there already if a worker died between its commit and its answer */
	int64		id = stored != NULL ? pe_row_int64(stored, "id")
		: insert_release(request, price, charge_id, value, values);

	if (request->model != NULL)
		pe_model_keep(request, id, value);
	return id;
}

static void
add_charged(pe_row *row, pe_amount charged)
{
	pe_row_add(row, "rho_spent", charged.rho_nano);
	pe_row_add(row, "delta_spent", charged.delta_atto);
	pe_row_add(row, "epsilon_spent", charged.epsilon_nano);
}

/* The names as they are now: where the OIDs mean nothing, in another cluster, they are all there is. */
static void
write_account(const account *a)
{
	pe_field	fields[] = {PE_TEXT("role_name", a->role)};

	add_charged(a->row, a->charged);
	pe_row_update(a->row, PE_FIELDS(fields));
}

static void
write_book(const book *b)
{
	pe_field	fields[] = {
		PE_TEXT("owner", GetUserNameFromId(pe_relation_owner(b->relation), true)),
		PE_TEXT("relation_schema", get_namespace_name(get_rel_namespace(b->relation))),
		PE_TEXT("relation_name", get_rel_name(b->relation)),
		PE_INT8("charges", b->charges),
		PE_INT8("acts", b->acts),
		PE_BYTEA("chain_head", b->head),
		PE_IF(b->scanned != NULL, PE_BYTEA("scanned", b->scanned))
	};

	if (fields[0].isnull || fields[1].isnull || fields[2].isnull)
		raise_stale();			/* the table was dropped meanwhile */
	add_charged(b->row, b->charged);
	pe_row_update(b->row, PE_FIELDS(fields));
}

/* The names of a table as they are now, of a dataset whose cap is another row's. */
static void
write_member(const member *m)
{
	pe_field	fields[] = {
		PE_TEXT("owner", GetUserNameFromId(pe_relation_owner(m->relation), true)),
		PE_TEXT("relation_schema", get_namespace_name(get_rel_namespace(m->relation))),
		PE_TEXT("relation_name", get_rel_name(m->relation))
	};

	if (fields[0].isnull || fields[1].isnull || fields[2].isnull)
		raise_stale();			/* the table was dropped meanwhile */
	pe_row_update(m->row, PE_FIELDS(fields));
}

static pe_anchor_link
link_of(const book *b)
{
	pe_anchor_link link = {.relation = b->relation, .charges = b->charges};

	memcpy(link.head, VARDATA_ANY(b->head), PG_SHA256_DIGEST_LENGTH);
	return link;
}

void
pe_batch_settle(pe_batch *batch)
{
	MemoryContext spi = MemoryContextSwitchTo(batch->context);

	batch->settled = pe_promotion_settle(&batch->settled_count);
	MemoryContextSwitchTo(spi);
}

pe_anchor_link *
pe_batch_end(pe_batch *batch, int *count)
{
	int			most = list_length(batch->books) + batch->settled_count;
	pe_anchor_link *link = MemoryContextAlloc(batch->context, Max(most, 1) * sizeof(*link));
	ListCell   *cell;
	ListCell   *inner;

	for (*count = 0; *count < batch->settled_count; (*count)++)
		link[*count] = batch->settled[*count];
	foreach(cell, batch->members)
	{
		const member *m = lfirst(cell);

		if (m->changed && m->row != NULL)
			write_member(m);
	}
	foreach(cell, batch->books)
	{
		book	   *b = lfirst(cell);

		if (!b->changed)
			continue;
		foreach(inner, b->accounts)
			write_account(lfirst(inner));
		write_book(b);
		link[(*count)++] = link_of(b);
	}
	pe_access_end(&batch->access);
	return link;
}

void
pe_release_expire(int64 dataset_id, int64 id)
{
	static pe_statement expire = {NULL, "UPDATE dp_ledger.release SET payload = NULL WHERE id = $1", 1, {INT8OID}};
	static pe_statement forget = {NULL, "DELETE FROM dp_ledger.model WHERE release_id = $1", 1, {INT8OID}};
	Datum		key[1] = {Int64GetDatum(id)};
	pe_act		act;
	pe_access	access;

	pe_act_begin(&act, dataset_id, PE_ACT_RELEASE, "expire_release", psprintf(INT64_FORMAT, id));
	pe_access_begin(&access);
	(void) pe_access_write(&expire, key, NULL);
	(void) pe_access_write(&forget, key, NULL);
	pe_access_end(&access);
	pe_act_end(&act, NULL);
}

int
pe_releases_expire(int64 dataset_id, Datum older_than)
{
	static pe_statement old = {NULL, "SELECT id FROM dp_ledger.release WHERE dataset_id = $1 AND payload IS NOT NULL "
		"AND created < pg_catalog.now() - $2 ORDER BY id", 2, {INT8OID, INTERVALOID}};
	Datum		values[2] = {Int64GetDatum(dataset_id), older_than};
	MemoryContext here = CurrentMemoryContext;
	pe_access	access;
	uint64		count;
	int64	   *id;

	pe_access_begin(&access);
	count = pe_access_read(&old, values, NULL);
	id = MemoryContextAlloc(here, Max(count, 1) * sizeof(*id));
	for (uint64 row = 0; row < count; row++)
		id[row] = pe_access_int64(row, 1);
	pe_access_end(&access);
	for (uint64 row = 0; row < count; row++)
		pe_release_expire(dataset_id, id[row]);
	return (int) count;
}
