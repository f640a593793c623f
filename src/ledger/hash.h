/*
 * hash.h
 *	  SHA-256, as the ledger uses it.
 */
#ifndef PE_LEDGER_HASH_H
#define PE_LEDGER_HASH_H

/* SHA-256 of two pieces, one after the other. */
extern bytea *pe_sha256(const void *first, size_t first_size, const void *second, size_t second_size);

/* SHA-256 of the canonical request: the key under which its releases are found. */
extern bytea *pe_request_hash(const char *request);

#endif
