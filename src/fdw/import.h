/*
 * import.h
 *	  Foreign tables that stand for datasets, made by IMPORT FOREIGN SCHEMA and dp.expose.
 */
#ifndef PE_FDW_IMPORT_H
#define PE_FDW_IMPORT_H

#include "foreign/fdwapi.h"

extern List *pe_fdw_import(ImportForeignSchemaStmt *statement, Oid server);

#endif
