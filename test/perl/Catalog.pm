# What the catalog has of the extension, as lines that name no OID: two databases can be compared by them.
package Catalog;

use strict;
use warnings FATAL => 'all';

use Exporter 'import';

our @EXPORT = qw($catalog catalog_of differences);

# Each object that belongs to the extension, and each part of one: indexes, constraints, rules and policies go with their tables.  pg_attver numbers changes of a table in this database.
our $catalog = q{
	SET search_path = '';
	CREATE TEMP VIEW members AS
	    SELECT d.classid, d.objid FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_extension e ON d.refclassid = 'pg_catalog.pg_extension'::regclass AND d.refobjid = e.oid
	     WHERE e.extname = 'pg_epsilon' AND d.deptype = 'e';
	CREATE TEMP VIEW parts AS
	    WITH RECURSIVE p AS (SELECT classid, objid FROM pg_temp.members UNION
	        SELECT d.classid, d.objid FROM pg_catalog.pg_depend d JOIN p ON (d.refclassid, d.refobjid) = (p.classid, p.objid) WHERE d.deptype IN ('a', 'i'))
	    SELECT classid, objid FROM p;
	CREATE TEMP VIEW relations AS
	    SELECT c.* FROM pg_catalog.pg_class c JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_class'::regclass AND m.objid = c.oid;
	CREATE TEMP VIEW functions AS
	    SELECT p.* FROM pg_catalog.pg_proc p JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_proc'::regclass AND m.objid = p.oid;
	CREATE TEMP VIEW lines AS
	SELECT 'extension: ' || pg_catalog.concat_ws(' | ', extversion, extrelocatable, extnamespace::regnamespace, extowner::regrole, (SELECT pg_catalog.array_agg(c::regclass || ': ' || k ORDER BY i) FROM ROWS FROM (pg_catalog.unnest(extconfig), pg_catalog.unnest(extcondition)) WITH ORDINALITY x(c, k, i))) AS line
	  FROM pg_catalog.pg_extension WHERE extname = 'pg_epsilon'
	UNION ALL
	SELECT 'member: ' || o.type || ' ' || o.identity FROM pg_temp.members, pg_catalog.pg_identify_object(classid, objid, 0) o
	UNION ALL
	SELECT 'comment: ' || o.type || ' ' || o.identity || ': ' || d.description FROM pg_temp.parts m JOIN pg_catalog.pg_description d ON (d.classoid, d.objoid) = (m.classid, m.objid), pg_catalog.pg_identify_object(d.classoid, d.objoid, d.objsubid) o
	UNION ALL
	SELECT 'label: ' || o.identity || ' ' || s.label FROM pg_temp.members m JOIN pg_catalog.pg_seclabel s ON (s.classoid, s.objoid) = (m.classid, m.objid), pg_catalog.pg_identify_object(s.classoid, s.objoid, s.objsubid) o
	UNION ALL
	SELECT 'first privileges: ' || o.type || ' ' || o.identity || ' ' || i.privtype::text || ' ' || i.initprivs::text FROM pg_temp.members m JOIN pg_catalog.pg_init_privs i ON (i.classoid, i.objoid) = (m.classid, m.objid), pg_catalog.pg_identify_object(i.classoid, i.objoid, i.objsubid) o
	UNION ALL
	SELECT 'depends: ' || a.type || ' ' || a.identity || ' on ' || b.type || ' ' || b.identity || ' ' || d.deptype::text FROM pg_temp.members m JOIN pg_catalog.pg_depend d ON (d.classid, d.objid) = (m.classid, m.objid),
	       pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) a, pg_catalog.pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) b
	UNION ALL
	SELECT 'schema: ' || pg_catalog.concat_ws(' | ', n.nspname, n.nspowner::regrole, n.nspacl) FROM pg_catalog.pg_namespace n JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_namespace'::regclass AND m.objid = n.oid
	UNION ALL
	SELECT 'function: ' || pg_catalog.concat_ws(' | ', oid::regprocedure, prokind, proowner::regrole, proacl, proconfig, prosrc, probin, prosupport, CASE WHEN prokind = 'f' THEN pg_catalog.pg_get_functiondef(oid) END) FROM pg_temp.functions
	UNION ALL
	SELECT 'aggregate: ' || pg_catalog.concat_ws(' | ', a.aggfnoid::regprocedure, a.aggkind, a.aggnumdirectargs, a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn, a.aggmtransfn, a.aggfinalextra, a.aggfinalmodify, a.aggsortop, a.aggtranstype::regtype, a.aggtransspace,
	       'initial ' || a.agginitval, p.proparallel, p.provolatile, p.proisstrict, pg_catalog.pg_get_function_arguments(p.oid), pg_catalog.pg_get_function_result(p.oid)) FROM pg_catalog.pg_aggregate a JOIN pg_temp.functions p ON p.oid = a.aggfnoid
	UNION ALL
	SELECT 'relation: ' || pg_catalog.concat_ws(' | ', oid::regclass, relkind, relpersistence, relowner::regrole, relacl, reloptions, relrowsecurity, relforcerowsecurity, relreplident, relhasrules, relhastriggers, CASE WHEN relkind = 'v' THEN pg_catalog.pg_get_viewdef(oid) END) FROM pg_temp.relations
	UNION ALL
	SELECT 'column: ' || pg_catalog.concat_ws(' | ', a.attrelid::regclass, a.attnum, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation, a.attnotnull, a.attstorage, a.attcompression, 'statistics ' || a.attstattarget, a.attidentity, a.attgenerated, a.attacl, (SELECT pg_catalog.array_agg(o) FROM pg_catalog.unnest(a.attoptions) o WHERE o !~ '^pg_attver='), pg_catalog.pg_get_expr(d.adbin, d.adrelid))
	  FROM pg_temp.relations r JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid LEFT JOIN pg_catalog.pg_attrdef d ON (d.adrelid, d.adnum) = (a.attrelid, a.attnum) WHERE a.attnum > 0
	UNION ALL
	SELECT 'constraint: ' || pg_catalog.concat_ws(' | ', r.oid::regclass, c.conname, c.convalidated, pg_catalog.pg_get_constraintdef(c.oid)) FROM pg_temp.relations r JOIN pg_catalog.pg_constraint c ON c.conrelid = r.oid
	UNION ALL
	SELECT 'index: ' || pg_catalog.pg_get_indexdef(i.indexrelid) || ' ' || i.indisvalid::text FROM pg_temp.relations r JOIN pg_catalog.pg_index i ON i.indrelid = r.oid
	UNION ALL
	SELECT 'trigger: ' || pg_catalog.pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text FROM pg_temp.relations r JOIN pg_catalog.pg_trigger t ON t.tgrelid = r.oid
	UNION ALL
	SELECT 'rule: ' || pg_catalog.pg_get_ruledef(u.oid) || ' ' || u.ev_enabled::text FROM pg_temp.relations r JOIN pg_catalog.pg_rewrite u ON u.ev_class = r.oid
	UNION ALL
	SELECT 'policy: ' || pg_catalog.concat_ws(' | ', r.oid::regclass, p.polname, p.polcmd, p.polpermissive, p.polroles::regrole[], 'using ' || pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'check ' || pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid)) FROM pg_temp.relations r JOIN pg_catalog.pg_policy p ON p.polrelid = r.oid
	UNION ALL
	SELECT 'sequence: ' || pg_catalog.concat_ws(' | ', r.oid::regclass, s.seqtypid::regtype, s.seqstart, s.seqincrement, s.seqmin, s.seqmax, s.seqcache, s.seqcycle) FROM pg_temp.relations r JOIN pg_catalog.pg_sequence s ON s.seqrelid = r.oid
	UNION ALL
	SELECT 'type: ' || pg_catalog.concat_ws(' | ', t.oid::regtype, t.typtype, t.typcategory, t.typlen, t.typbyval, t.typalign, t.typstorage, t.typinput, t.typoutput, t.typreceive, t.typsend, t.typanalyze, t.typsubscript, t.typcollation, t.typowner::regrole, t.typacl, t.typbasetype::regtype, t.typnotnull, 'default ' || t.typdefault,
	       (SELECT pg_catalog.array_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid), (SELECT pg_catalog.array_agg(c.conname || ' ' || pg_catalog.pg_get_constraintdef(c.oid) ORDER BY c.conname) FROM pg_catalog.pg_constraint c WHERE c.contypid = t.oid)) FROM pg_catalog.pg_type t JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_type'::regclass AND m.objid = t.oid
	UNION ALL
	SELECT 'cast: ' || pg_catalog.concat_ws(' | ', c.castsource::regtype, c.casttarget::regtype, c.castfunc, c.castcontext, c.castmethod) FROM pg_catalog.pg_cast c JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_cast'::regclass AND m.objid = c.oid
	UNION ALL
	SELECT 'operator: ' || pg_catalog.concat_ws(' | ', o.oid::regoperator, o.oprcode, o.oprrest, o.oprjoin, o.oprcanhash, o.oprcanmerge, o.oprcom::regoperator, o.oprnegate::regoperator, o.oprowner::regrole) FROM pg_catalog.pg_operator o JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_operator'::regclass AND m.objid = o.oid
	UNION ALL
	SELECT 'operator class: ' || pg_catalog.concat_ws(' | ', o.opcname, o.opcintype::regtype, o.opcdefault, o.opcowner::regrole,
	       (SELECT pg_catalog.array_agg(a.amopstrategy || ' ' || a.amopopr::regoperator ORDER BY 1) FROM pg_catalog.pg_amop a WHERE a.amopfamily = o.opcfamily), (SELECT pg_catalog.array_agg(a.amprocnum || ' ' || a.amproc::regprocedure ORDER BY 1) FROM pg_catalog.pg_amproc a WHERE a.amprocfamily = o.opcfamily))
	  FROM pg_catalog.pg_opclass o JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_opclass'::regclass AND m.objid = o.oid
	UNION ALL
	SELECT 'wrapper: ' || pg_catalog.concat_ws(' | ', f.fdwname, f.fdwhandler::regproc, f.fdwvalidator::regproc, f.fdwoptions, f.fdwacl, f.fdwowner::regrole) FROM pg_catalog.pg_foreign_data_wrapper f JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_foreign_data_wrapper'::regclass AND m.objid = f.oid
	UNION ALL
	SELECT 'server: ' || pg_catalog.concat_ws(' | ', s.srvname, s.srvtype, s.srvversion, s.srvoptions, s.srvacl, s.srvowner::regrole) FROM pg_catalog.pg_foreign_server s JOIN pg_temp.members m ON m.classid = 'pg_catalog.pg_foreign_server'::regclass AND m.objid = s.oid;
	SELECT one FROM (SELECT pg_catalog.regexp_replace(line, '\s+', ' ', 'g') AS one FROM pg_temp.lines) l ORDER BY one COLLATE "C";
};

# catalog_of NODE, DATABASE, SQL: its lines; after SQL, which is undone
sub catalog_of
{
	my ($node, $db, $sql) = @_;

	return [ split /\n/, $node->safe_psql($db, 'BEGIN; ' . ($sql // '') . "; $catalog; ROLLBACK") ];
}

# differences ONE, OTHER: lines that only one of them has, with < or >
sub differences
{
	my ($one, $other) = @_;
	my %in_one = map { $_ => 1 } @$one;
	my %in_other = map { $_ => 1 } @$other;

	return join "\n", (map { "< $_" } grep { !$in_other{$_} } @$one), (map { "> $_" } grep { !$in_one{$_} } @$other);
}

1;
