/*
 * hash.c
 *	  SHA-256, as the ledger uses it.  See chain.h.
 */
#include "postgres.h"

#include "common/cryptohash.h"
#include "common/sha2.h"

#include "ledger/chain.h"

bytea *
pe_sha256(const void *first, size_t first_size, const void *second, size_t second_size)
{
	pg_cryptohash_ctx *ctx = pg_cryptohash_create(PG_SHA256);
	bytea	   *hash = palloc(VARHDRSZ + PG_SHA256_DIGEST_LENGTH);

	SET_VARSIZE(hash, VARHDRSZ + PG_SHA256_DIGEST_LENGTH);
	if (pg_cryptohash_init(ctx) < 0 ||
		pg_cryptohash_update(ctx, first, first_size) < 0 ||
		pg_cryptohash_update(ctx, second, second_size) < 0 ||
		pg_cryptohash_final(ctx, (uint8 *) VARDATA(hash), PG_SHA256_DIGEST_LENGTH) < 0)
		elog(ERROR, "SHA-256 failed");
	pg_cryptohash_free(ctx);
	return hash;
}

bytea *
pe_request_hash(const char *request)
{
	return pe_sha256(request, strlen(request), "", 0);
}
