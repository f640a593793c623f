#!/usr/bin/env bash
# Breaks what privacy relies on, one thing at a time, in a copy of the checkout, and sees a test
# fail for each.  A mutation that no test notices is a failure here.  Prints TAP.
#
#   scripts/mutate.sh             all of them
#   MUTATIONS="name ..."          these only
#   DRY=1                         without a test: sees only that every expression still changes its file
#
# A mutation is a name, a file, a Perl expression that must change it, and the suite and test
# that must then fail.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
WORK=${PG_EPSILON_OUT:-$ROOT/build}/mutate
TREE=$WORK/tree
N=0
BAD=0

result() { # OK WHAT
	N=$((N + 1))
	if [ "$1" = 0 ]; then
		echo "ok $N - $2"
	else
		BAD=$((BAD + 1))
		echo "not ok $N - $2"
	fi
}

wanted() {
	[ -z "${MUTATIONS:-}" ] || [[ " $MUTATIONS " == *" $1 "* ]]
}

# mutate NAME FILE EXPRESSION SUITE TEST
mutate() {
	local name=$1 file=$TREE/$2 log=$WORK/$1.log
	wanted "$name" || return 0
	cp "$file" "$WORK/original"
	perl -0pi -e "$3" "$file"
	if cmp -s "$file" "$WORK/original"; then
		result 1 "$name: the expression changes nothing in $2"
		return
	fi
	if [ -n "${DRY:-}" ]; then
		cp "$WORK/original" "$file"
		result 0 "$name: the expression changes $2"
		return
	fi
	(cd "$TREE" && env -u PGHOST -u PGPORT -u PGUSER -u MAKEFLAGS -u MAKELEVEL \
		make check WERROR= ONLY="$4" TESTS="$5") >"$log" 2>&1 </dev/null
	cp "$WORK/original" "$file"
	if grep -qE 'The build failed|could not be built' "$log"; then
		result 1 "$name: the mutated source does not build"
		tail -n 20 "$log" | sed 's/^/# /'
	elif grep -qE '^[0-9]+ passed, [1-9][0-9]* failed$' "$log"; then
		result 0 "$name: $4 $5 notices"
	else
		result 1 "$name: $4 $5 does not notice"
		tail -n 5 "$log" | sed 's/^/# /'
	fi
}

# rarely NAME FILE EXPRESSION SUITE TEST: the long run has no time for it
rarely() {
	if [ -z "${PG_EPSILON_OUT:-}" ]; then
		mutate "$@"
	elif wanted "$1"; then
		N=$((N + 1))
		echo "ok $N - $1 # SKIP make mutate tries it"
	fi
}

rm -rf "$WORK"
mkdir -p "$TREE" || exit 1
tar -C "$ROOT" --exclude=./build --exclude=./.git --exclude='*.so' -cf - . | tar -C "$TREE" -xf - || exit 1

mutate sensitivity_halved src/strategy/strategy.c \
	's/\*sensitivity_sq = largest \* copies_sq;/*sensitivity_sq = (largest * copies_sq + 3) \/ 4;/' unit test_strategy
mutate zero_vertex_forgotten src/strategy/strategy.c \
	's/if \(distance_sq > \*largest\)\n\t\t(\*largest = distance_sq;\n\treturn true;)/$1/' unit test_neighbours
mutate max_rows_forgotten src/strategy/strategy.c \
	's/\(pe_u128\) max_rows \* \(pe_u128\) max_rows/1/' unit test_neighbours
mutate rows_by_place src/domain/units.c \
	's/pe_hmac\(key, message, sizeof\(message\), row->rank\);/(void) key; put(row->rank, j, 8);/' unit test_units
mutate rows_uncut src/door/tally_units.c \
	's/state->frame.max_rows = state->cut.max_rows;/state->frame.max_rows = PG_INT32_MAX;/' regress units
mutate rows_without_unit src/door/tally_units.c \
	's/PG_ARGISNULL\(PE_ARG_UNIT\) \|\| cell == PE_DROPPED/cell == PE_DROPPED/' regress units
mutate model_clip_doubled src/glm/pass.c \
	's/cap_l2\(norm\[r\], pass->clip\)/cap_l2(norm[r], 2 * pass->clip)/' unit test_pass
mutate model_flush_dropped src/glm/kernel.h \
	's/#define PE_FLUSH_TILES PE_BLOCK_TILES/#define PE_FLUSH_TILES (4 * PE_BLOCK_TILES)/' unit test_pass
mutate model_caps_of_another_clip src/glm/pass.c \
	's/ && rows->cap_clip == pass->clip//' unit test_pass
mutate model_row_without_cap src/glm/rows.c \
	's/(\trows->rows\+\+;\n)\trows->cap_norm = -1;\n/$1/' unit test_pass
mutate model_loss_uncapped src/glm/pass.c \
	's/run->cap = pass->cap > 0[^;]*;/run->cap = PE_LOSS_MOST;/' unit test_pass
mutate model_coins_of_rows src/glm/pass.c \
	's/if \(rows->with_units\)\n\t\ttoss_unit/if (rows == NULL)\n\t\ttoss_unit/' unit test_pass
mutate model_coins_rounded src/glm/pass.c \
	's/\(more & low_mask\) < \(sample & low_mask\)/more != 0/' unit test_pass
mutate model_one_row_too_many src/glm/rows.c \
	's/size_t i = \(size_t\) max_rows;/size_t i = (size_t) max_rows + 1;/' unit test_rows
mutate model_rows_by_place src/glm/rows.c \
	's/(\tj = again \? j \+ 1 : 1;)/$1\n\t\tj = of[i].row;/' unit test_rows
mutate l2_for_pure src/api/answers.c \
	's/return norm == PE_L2\n/return norm <= PE_L1\n/' regress pure
mutate gauss_for_pure src/api/question.c \
	's/h->noise.norm = h->pure \? PE_L1 : PE_L2;/h->noise.norm = PE_L2;/' regress pure
mutate l1_sensitivity_of_one_entry src/strategy/strategy.c \
	's/sum \+= magnitude\(b == NULL \? a\[i\] : a\[i\] - b\[i\]\);/sum = magnitude(b == NULL ? a[i] : a[i] - b[i]) > sum ? magnitude(b == NULL ? a[i] : a[i] - b[i]) : sum;/' \
	unit test_laplace
mutate pure_noise_halved src/noise/laplace.c \
	's/(pe_laplace_calibrate\(sensitivity, )nano_epsilon(, &t, &s\)\)\n\t\tpe_bug)/${1}2 * nano_epsilon$2/' unit test_laplace
mutate sampled_steps_not_counted src/fit/sampling.c \
	's/s->steps \* (pe_rdp_subsampled_gaussian)/$1/' unit test_sampling
mutate sampled_less_often_than_said src/fit/sampling.c \
	's/s\.q = pe_sample_probability\(plan->sample\)/s.q = pe_sample_probability(plan->sample) \/ 2/' unit test_sampling
mutate sampled_count_free src/fit/sampling.c \
	's/alpha \* \(\(double\) s->nano_count \* 1e-9\);\n\n\treturn/0;\n\n\treturn/' unit test_sampling
mutate pure_batches_too_cheap src/fit/first_order.c \
	's/expm1\(epsilon\) \/ q\)/expm1(epsilon) \/ q \/ q)/' unit test_sampling
mutate objpert_one_sided src/fit/objpert.c \
	's/delta \/ \(2 \* rows\)/delta \/ rows/' unit test_objpert
mutate objpert_regulariser_free src/fit/objpert.c \
	's/double\t\tvalue = rows \* log1p\(beta \/ lambda\);/double\t\tvalue = 0 * rows * beta * lambda;/' unit test_objpert
mutate objpert_forgets_rows src/fit/objpert.c \
	's/plan->sigma = rows \* sigma/plan->sigma = sigma/' unit test_objpert
mutate objpert_narrow_output src/fit/fit_objpert.c \
	's/problem->plan\.output \* ETA \* distance/problem->plan.output * distance \/ 4/' unit test_objpert
mutate minimum_not_certified src/glm/minimise.c \
	's/point->length = \(sqrt\(square\)/point->length = 0.5 * (sqrt(square)/' unit test_objpert
mutate outpert_replaces_for_free src/fit/fit_outpert.c \
	's/\t\to->sensitivity \*= 2;/\t\to->sensitivity *= 1;/' unit test_outpert
mutate outpert_step_by_the_guess src/fit/fit_outpert.c \
	's/x <= 2 \* c \? 1 - x/c > 0 ? 1 - 0 * x/' unit test_outpert
mutate gauss_floor_without_square src/noise/gauss_floor.c \
	's/accept_exp\(&u, 2, 1, 2 \* p, bits\)/true/' unit test_gauss_floor
mutate batches_of_all_rows src/fit/fit_sgd.c \
	's/\td\.pass\.sample = plan->sample;\n//' unit test_sgd
mutate pure_batches_of_all_rows src/fit/fit_accelerated.c \
	's/st->pass\.sample = pe_sample_of\(([^)]*)\);/(void) pe_sample_of($1);\n\t\tst->pass.sample = ~(uint64_t) 0;/' unit test_accelerated
mutate schedule_above_the_cost src/fit/fit_accelerated.c \
	's/schedule->nano\[t\] = 1 \+ more;/schedule->nano[t] = 2 + more;/' unit test_accelerated
mutate schedule_parts_of_more src/fit/fit_accelerated.c \
	's/int64_t\t\trest = nano - schedule->steps;/int64_t\t\trest = nano + nano \/ 50;/' unit test_accelerated
mutate pure_free_of_cap src/accounting/filter.c \
	's/cost.rho_nano = pe_nano_rho_of_pure\(charge.epsilon_nano\);/cost.rho_nano = 0;/' tap 047_pure
mutate pure_epsilon_uncounted src/ledger/charge.c \
	's/\tpe_row_add\(row, "epsilon_spent", charged.epsilon_nano\);\n//' tap 047_pure
mutate noise_halved src/noise/gaussian.c \
	's/(pe_gaussian_calibrate\(sensitivity_sq, )nano_rho/${1}4 * nano_rho/' unit test_gauss
mutate step_doubled src/noise/gaussian.c \
	's/pe_gauss_draw\(noise, bits\)/2 * (pe_gauss_draw(noise, bits) \/ 2)/; s/pe_strip_draw\(&table, bits\)/2 * (pe_strip_draw(&table, bits) \/ 2)/' \
	unit test_gauss
mutate model_rows_forgotten src/fit/measure.c \
	's/product\(product\(row, product\(k, k\)\), \(pe_u128\) squares\)/product(row, (pe_u128) squares)/' unit test_measure
mutate gradient_substitute_forgotten src/fit/measure.c \
	's/gradient_noise\(const(.*?)problem->substitute \? 4 : 1/gradient_noise(const$1problem->substitute ? 1 : 1/s' unit test_measure
mutate moment_noise_quartered src/fit/measure.c \
	's/noise\.nano \*= 2;/noise.nano *= 4;/' unit test_measure
mutate selection_not_monotone src/noise/select.c \
	's/monotone \? sensitivity : 2 \* sensitivity/sensitivity/' unit test_select
mutate selection_rate_doubled src/noise/select.c \
	's/2 \* RATE_BITS \+ 3/2 * RATE_BITS + 5/' unit test_select
mutate scores_rows_forgotten src/fit/fit_agd.c \
	's/k \* \(pe_u128\) d->losses\.cap/(pe_u128) d->losses.cap/' unit test_fit_search
mutate agd_overspends src/fit/fit_agd.c \
	's/d->left < more \+ d->of_selection/d->left <= 0/' unit test_fit_search
mutate newton_spends_twice src/fit/fit_newton.c \
	's/left = problem->nano - \*moment;/left = problem->nano;/' unit test_fit_newton
mutate charge_dropped src/ledger/charge.c \
	's/\n\t\t\twrite_account\(lfirst\(inner\)\);/;/' tap attack_charges
mutate cap_dropped src/ledger/charge.c \
	's/ \|\| !pe_filter_accepts\(b->limit, b->spent, cap_cost\)//' tap attack_race
mutate error_for_all src/worker/worker.c \
	's/\n\t\tif \(count > 1\)\n\t\t\terror = try_jobs\(&jobs\[i\], 1\);//' tap 014_resident
rarely worker_in_the_way src/worker/resident.c \
	's/\n\t\tpe_mailbox_ask_to_leave\(database\);/;/' tap 014_resident
mutate constraint_kept src/server/row.c \
	's/c->stale = c->stale \|\| table == InvalidOid \|\| table == c->table;/c->stale = false;/' tap 014_resident
rarely trigger_leak src/server/row.c \
	's/\testate->es_opened_result_relations = [^\n]*\n//' tap 014_resident
rarely table_gone src/server/row.c \
	's/\twhile \(\(relation = try_table_open\(relation_named\(name\), mode\)\) == NULL\)\n\t\t;/\trelation = table_open(relation_named(name), mode);/' tap 014_resident
rarely row_shown src/worker/worker.c \
	's/shows_row \? NULL : error->detail/error->detail/' tap 014_resident
mutate flush_dropped src/worker/worker.c \
	's/\{"synchronous_commit", "on"\},/{"synchronous_commit", "off"},/' tap attack_charges
rarely worker_started_again src/worker/channel.c \
	's/\t\t\t\tpause_for\(50\);/\t\t\t\tpause_for(0);/' tap 013_worker
rarely asked_without_pause src/worker/channel.c \
	's/\n\t\tpause_for\(10\);//' tap 013_worker
rarely worker_exit_on_error src/worker/worker.c \
	's/^.*"exit_on_error", "off".*\n//m' tap 013_worker
rarely model_dropped_by_others src/ledger/models.c \
	's/^\tcheck_may_drop\(name\);/\t(void) check_may_drop;/m' tap attack_names
rarely registrations_unlocked src/ledger/registry.c \
	's/\t\tlock_to_end\(lfirst_oid\(cell\), PE_LOCK_TABLE\);/\t\t;/' isolation attest
rarely registration_family_stale src/ledger/registry.c \
	's/\n\t\tAcceptInvalidationMessages\(\);//' isolation inherit
mutate worker_lock_is_a_name src/server/locks.h \
	's/PE_LOCK_WORKER\t/PE_LOCK_WORKER = PE_LOCK_NAME\t/' tap attack_worker
rarely model_table_impatient src/ledger/models.c \
	's/\tpe_table_lock\("model"\);/\t/' tap attack_worker
rarely store_gives_up src/worker/channel.c \
	's/ \|\| was_in_vain\(&answer\)\)/ || (was_in_vain(\&answer) \&\& false))/' tap attack_worker
rarely labels_exchanged src/ledger/registry.c \
	's/column->ordered && i > 0 && place <= last/false/' tap attack_roles
rarely labels_uncommitted src/ledger/registry.c \
	's/if \(TransactionIdIsCurrentTransactionId\(HeapTupleHeaderGetXmin\(tuple->t_data\)\)\)/if (false)/' tap attack_roles
rarely strategy_texts_free src/ledger/strategies.c \
	's/ \+ pg_catalog.octet_length\(s.key\) \+ pg_catalog.octet_length\(s.workload\)//' tap 022_kept_strategies
rarely long_levels src/api/attribute.c \
	's/\n\tcheck_length\(d, texts\);/\n\t(void) check_length;/' tap attack_worker
rarely long_requests src/worker/channel.c \
	's/message.len > PE_MAX_REQUEST/false/' tap attack_worker
rarely all_releases_looked_at src/ledger/charge.c \
	's/LIMIT " MOST_RELEASES "/LIMIT ALL/' tap attack_worker
rarely written_to_old_rows src/server/access.c \
	's/GetLatestSnapshot\(\), InvalidSnapshot, false, true/InvalidSnapshot, InvalidSnapshot, false, true/' isolation late
mutate own_changes_visible src/door/door.c \
	's/\n\tGetActiveSnapshot\(\)->curcid = FirstCommandId;//' tap attack_door
mutate replay_free_for_others src/ledger/charge.c \
	's/find_release\(request, reply, &paid\) && paid/find_release(request, reply, \&paid)/' tap 011_transactions
mutate writers_admitted src/door/door.c \
	's/\n\tcheck_writes_nothing\(visit->dataset, GetUserId\(\)\);//' tap attack_door
mutate scan_error_shown src/door/door.c \
	's/d\.reading && visit->charge != NULL && !is_ordinary_error/false \&\& !is_ordinary_error/' tap attack_door
mutate budget_rounded_up src/accounting/filter.c \
	's/pe_nano_rho_of_epsilon\(epsilon, delta \/ 2\)/pe_nano_rho_of_epsilon(epsilon, delta \/ 2) + 1/' unit test_accounting
mutate nulls_in_bin_0 src/domain/domain.c \
	's/pe_attribute_cells\(attribute\) - 1 : PE_DROPPED;/pe_attribute_cells(attribute) - 1 : 0;/' regress exact
mutate predicate_forgotten src/door/reader.c \
	's/pe_predicate_selects\(&reader->predicate, coordinate\) \?/pe_predicate_selects(\&reader->predicate, coordinate) || true ?/' \
	regress predicate
mutate unknown_is_false src/domain/predicate.c \
	's/(set_null\(leaf, attribute->domain, )PE_UNKNOWN\)/${1}PE_FALSE)/g' regress predicate
mutate bins_cut_in_two src/domain/predicate.c \
	's/return edge < bins \? edge : -1;/return edge;/' unit test_predicate
mutate predicate_not_in_request src/api/question.c \
	's/escape_json\(&text, h->predicate\);/appendStringInfoString(\&text, "null");/' regress predicate
mutate buffers_shown src/server/access.c \
	's/\n\tpgBufferUsage = buffers;//' tap attack_visible
mutate search_path_kept src/server/access.c \
	's/\n\t\{"search_path", "pg_catalog, pg_temp"\},//' tap attack_visible
mutate error_made_fatal src/door/door.c \
	's/\n\t\{"exit_on_error", "off"\},//' tap 041_relations
mutate ancestors_forgotten src/ledger/family.c \
	's/list_concat_unique_oid\(ancestors_of\(descendants\), descendants\)/list_make1_oid(relation)/' \
	tap 041_relations
mutate plan_unchecked src/door/door.c \
	's/\n\tcheck_names_the_table\(plan, visit->dataset->relation\);//' tap attack_names
mutate truncate_admitted src/door/door.c \
	's/\n\tpe_relation_check_committed\(relation\);//' tap attack_names
mutate freeze_forgotten src/ledger/charge.c \
	's/if \(pe_identity_is_frozen\(/if (false && pe_identity_is_frozen(/' tap attack_freeze
mutate attest_for_anybody src/ledger/registry.c \
	's/if \(!pe_dataset_owned_by\(dataset, GetUserId\(\)\)\)/if (false)/' regress attest
mutate attest_any_table src/ledger/attest.c \
	's/!has_privs_of_role\(GetUserId\(\), pe_relation_owner\(relation\)\)/false/' regress attest
mutate attest_any_columns src/ledger/attest.c \
	's/\n\t\t\tcheck_declarations\(dataset->id\);/\n\t\t\t(void) check_declarations;/' regress attest
mutate broken_chain_attested src/ledger/attest.c \
	's/check->finding != NULL && !superuser\(\)/false/' regress attest
mutate end_unseen src/ledger/chain.c \
	's/return pe_row_int64\(last, "seq"\) == charges && is_hash\([^;]*;/return true;/' tap attack_freeze
mutate gap_unseen src/ledger/chain.c \
	's/line->seq != check->last_seq \+ 1/false/' regress attest
mutate sums_unseen src/ledger/chain.c \
	's/\n\tcheck_sums\(check, values\);/\n\t(void) check_sums;/' regress attest
mutate column_not_hashed src/ledger/chain.c \
	's/\n\tappend_number\(&text, "budget_id", line->budget_id\);//' regress attest
mutate counters_on src/door/door.c \
	's/\n\t\{"track_counts", "off"\},//' tap attack_visible
mutate quantum_off src/door/door.c \
	's/(int64\s+quantum = )[^;]*;/${1}0;/' tap attack_time
mutate quantum_rounded src/door/door.c \
	's/if \(left < 2000\)/if (false)/; s/left \/ 2000, 0\)/(left + 999) \/ 1000, 0)/' tap attack_time
rarely folded_cells_lost src/door/counts.c \
	's/(columns\[question->column_of_cell\[cell\]\]) \+=/$1 =/' tap 021_strategies
mutate sensitivity_of_first_column src/strategy/strategy.c \
	's/if \(norm_sq > \*largest\)/if (column == 0)/' tap 021_strategies
rarely variance_of_one_factor src/strategy/reconstruct.c \
	's/\n\t\tpe_la_triangle_square\(rows, r, rows\);//' tap 021_strategies
rarely undetermined_answered src/api/answers.c \
	's/\n\t\tcheck_determined\(&r\);/\n\t\tif (false)\n\t\t\tcheck_determined(&r);/' tap 021_strategies
rarely replay_by_another_strategy src/api/histogram.c \
	's/if \(c->reply.strategy_id != h->kept.id && /if (false && /' tap 022_kept_strategies
mutate strategies_not_dumped sql/pg_epsilon--1.0.sql \
	's/\nSELECT pg_catalog.pg_extension_config_dump\(.dp.strategy., ..\);//' tap 022_kept_strategies
mutate gradient_sensitivity_halved src/fit/measure.c \
	's/return noise_for\(problem, clip, problem->substitute/return noise_for(problem, clip \/ 4, problem->substitute/' unit test_measure
mutate moment_sensitivity_halved src/fit/measure.c \
	's/(\n\t\tproduct\(problem->radius_sq, problem->radius_sq\));(\n\n\treturn noise_for)/$1 \/ 4;$2/' unit test_measure
mutate clip_dropped src/glm/pass.c \
	's/\(pass->norm == PE_L2 \? cap_l2\(norm\[r\], pass->clip\) : cap_l1\(norm\[r\], pass->clip\)\)/((void) cap_l1, (void) cap_l2, INT16_MAX)/' unit test_pass
mutate fit_units_uncut src/door/fit_rows.c \
	's/\n\t\tpe_rows_cut\(&s->rows, &s->keys, s->cut.max_rows\);//' regress fit
mutate fit_rows_without_unit src/door/fit_rows.c \
	's/counts = counts && !PG_ARGISNULL\(PE_ARG_UNIT\) && /counts = counts \&\& /' regress fit
mutate fit_predicate_forgotten src/door/fit_rows.c \
	's/s->spec.predicate.steps == 0 \|\|/true ||/' regress fit
mutate fit_predicate_not_in_request src/api/model.c \
	's/escape_json\(&text, fit->spec.predicate.canonical\);/appendStringInfoString(\&text, "null");/' regress fit
mutate fit_free src/door/fits.c \
	's/visit_and_fit\(&f, &question->charge, reply\);/visit_and_fit(\&f, NULL, reply);/' regress fit
mutate plain_model_for_anybody src/api/model.c \
	's/\n\t\tpe_dataset_check_owner\(fit->dataset\);//' regress fit
mutate model_for_anybody src/ledger/models.c \
	's/\n\tcheck_may_use\(name, dataset_id, release_id\);/\n\t(void) check_may_use;/' regress fit
mutate units_sampled_by_rows src/api/model.c \
	's/problem->anonymous = fit->request->by_array;/problem->anonymous = false;/' regress models
mutate table_answered_from_a_query src/api/model.c \
	's/if \(request->by_array\)\n\t\tappendStringInfoString/if (false)\n\t\tappendStringInfoString/' regress models
mutate options_by_row src/api/options.c \
	's/if \(!IsA\(expression, Const\)\)\n\t\treturn false;/if (!IsA(expression, Const))\n\t\treturn *value = CStringGetTextDatum("{}"), *isnull = false, true;/' regress models
mutate result_charged_again src/api/fit_aggregate.c \
	's/if \(!s->fitted\)/if (true)/' regress models
mutate model_kept_for_other_roles src/api/predict.c \
	's/k->user == GetUserId\(\)/true/' regress predict
mutate values_histogram src/api/question.c 's/\tpe_dataset_check_rows\(h->dataset\);\n//' regress values
mutate private_attribute src/api/attribute.c 's/\tpe_dataset_check_public\(d->dataset, d->column\);\n//' regress values
mutate private_column_changed src/ledger/registry.c \
	's/\tif \(dataset->private_column != NULL\)\n\t\tcheck_column_type[^\n]*\n//' regress values
mutate other_max_change src/ledger/registry.c \
	's/ && old->max_change == declared->max_change/ \&\& old->max_change >= declared->max_change/' regress values
mutate change_one_for_all src/ledger/registry.c 's/change != NULL && strcmp\(change, "all"\) == 0/false/' regress values
mutate offset_rounded_to_zero src/affine/affine.c \
	's/\(pe_i128\) floor\(ldexp\(value, -unit\)\)/(pe_i128) ldexp(value, -unit)/' unit test_affine
mutate lattice_change_halved src/affine/affine_lattice.c \
	's/change = pe_affine_change\(max_change, lattice->unit\)/change = (pe_affine_change(max_change, lattice->unit) + 1) \/ 2/' unit test_affine
mutate inequality_outward src/affine/affine_lattice.c \
	's/lattice->step\[j\]\), unit, UP\);/lattice->step[j]), unit, NEAREST);/' unit test_affine
mutate coins_of_depth src/minimum/lattice_law.c \
	's/if \(!all_zero\(bits, -above\)\)/if (!all_zero(bits, -above) \&\& false)/' unit test_lattice_law
mutate open_box_by_any_side src/affine/programme.c \
	's/isfinite\(end\) \? end : least/end/' unit test_programme
mutate expected_gap_of_set src/minimum/minimum.c \
	's/range \* \(part \+ \(d \+ 1\) \* STEP \/ 2\)/0/' unit test_minimum
mutate vacuous_counts src/affine/programme.c \
	's/return fmin\(most, isfinite\(end\) \? end : least\)/return most/' unit test_programme
mutate inequality_unscaled src/api/polytope_argument.c \
	's/\n\t\tscale_inequality\(number [^;]*;/\n\t\t(void) k;/' regress minimize
mutate bound_without_box src/affine/programme.c \
	's/gap \+= cost_of_coordinate\(p, found, j\);/gap += 0 * cost_of_coordinate(p, found, j);/' unit test_programme
mutate law_rate_doubled src/minimum/lattice_law.c 's/rate\.factor \*= 2;//' unit test_lattice_law
mutate law_accepts_all src/minimum/lattice_law.c \
	's/return answer == PE_LAZY_YES;\n\treturn accept_exactly/return true;\n\treturn accept_exactly/' unit test_lattice_law
mutate law_rows_dropped src/minimum/lattice_law.c \
	's/law->high\[i\] = low \+ range/law->high[i] = low + range \/ 2/' unit test_lattice_law
mutate law_mean_too_high src/minimum/lattice_law.c \
	's/return \(int64_t\) \(sum >> WEIGHT_BITS\);/return (int64_t) (sum >> WEIGHT_BITS) + (INT64_C(1) << 44);/' unit test_lattice_law
mutate law_prior_from_data src/minimum/lattice_law.c \
	's/return k == SCORE \? lattice->base/return k != LIMIT ? lattice->base/' unit test_lattice_law
mutate law_exact_depth src/minimum/lattice_law.c \
	's/claim\.scale = scale;/claim.scale = (uint32_t) law->scale;/' unit test_lattice_law
mutate lazy_scale_dropped src/noise/lazy_exp.c 's/\n\tshift_left\(w->v, [^;]*;//' unit test_gauss
mutate minimum_numeric_by_double src/door/offset_value.c \
	's/return offset_of_numeric\(reader, value\);/return pe_affine_offset(DatumGetFloat8(DirectFunctionCall1(numeric_float8_no_overflow, value)), reader->unit);/' tap 051_minimize
mutate minimum_half_price src/api/minimum_question.c \
	's/\{\.rho_nano = m->problem\.nano\}/{.rho_nano = m->problem.nano \/ 2}/' regress minimize
mutate minimum_request_without_inequalities src/api/minimum_question.c \
	's/set->inequality \+ \(size_t\) k \* \(set->variables \+ 1\), set->variables \+ 1\);/set->inequality, 0);/' regress minimize
mutate minimum_plain_for_all src/api/minimum_question.c \
	's/\n\tpe_dataset_check_owner\(m->dataset\);/\n/' regress minimize
mutate minimum_agg_replayed src/api/minimum_aggregate.c \
	's/s->request\.fresh = true;//' regress minimize
mutate offsets_noise_of_one src/minimum/minimum_laplace.c \
	's/problem->all \? \(pe_u128\) rows : 1/1/' unit test_minimum
mutate offsets_cube_halved src/minimum/minimum_laplace.c \
	's/release_cube\(exact, rows, change,/release_cube(exact, rows, change \/ 2,/' unit test_minimum
mutate solution_of_one_variable src/minimum/minimum_laplace.c \
	's/\(pe_u128\) variables \* FARTHEST/(pe_u128) FARTHEST/' unit test_minimum
mutate subgradient_monotone src/minimum/minimum_subgradient.c \
	's/d->lattice\.change, false, norm/d->lattice.change, true, norm/' unit test_minimum
mutate subgradient_sign src/minimum/minimum_subgradient.c \
	's/d->score\[i\] = -pe_lattice_row/d->score[i] = pe_lattice_row/' unit test_minimum
mutate cube_unchecked src/noise/cube.c \
	's/ && accept_radius\(r, count, bits\)/ \&\& (accept_radius(r, count, bits) || true)/' unit test_cube
mutate direct_distances_forgotten src/strategy/direct.c 's/i < j && exact && pairs; i\+\+/i < j && exact \&\& pairs \&\& j < 0; i++/' unit test_direct
mutate direct_l1_differences_forgotten src/strategy/direct.c 's/added \? largest_of\(n \* n, difference\) : 2 \* most/most/' unit test_direct
mutate direct_answers_anything src/strategy/reconstruct.c 's/return r->same \? -1 : 0;/return -1;/' unit test_direct
mutate dense_rows_cut src/strategy/strategy.c 's/l \+ 1 : strategy->rows;/l + 1 : strategy->inner;/' unit test_strategy
mutate dense_panels_cut src/strategy/strategy.c 's/is_triangle = strategy->triangle != NULL && /is_triangle = /' unit test_neighbours
mutate dense_row_sums_forgotten src/strategy/strategy.c 's/return of_basis > of_m \? of_basis : of_m;/return of_basis > of_m ? of_basis : 1;/' unit test_strategy
mutate dense_unrefined src/strategy/reconstruct.c 's/pass < 2; pass\+\+\)\t\/\* the second/pass < 1; pass++)\t\/* the second/' unit test_reconstruct
mutate dense_rank_unchecked src/strategy/reconstruct.c 's/DEPENDENT 1e-10/DEPENDENT -1.0/' unit test_reconstruct
mutate l1_distances_wrap src/strategy/strategy.c 's/small = norm < \(pe_u128\) 1 << 62;/small = norm > 0;/' unit test_strategy
mutate levels_sensitivity src/published/levels.c 's/sum \+= norm == PE_L1 \? weight : weight \* weight;/sum = fmax(sum, weight * weight);/' unit test_levels
mutate adaptive_completes_too_much src/published/adaptive.c 's/\+ product\(j, n\)\] = 1.0;/+ product(j, n)] = 2.0;/' unit test_adaptive
mutate low_rank_append_free src/published/low_rank.c 's/return norm == PE_L1 \? 1.0 \+ eta : sqrt\(1.0 \+ eta \* eta\);/return 1.0;/' unit test_low_rank
mutate coa_theta_lost src/published/coa.c 's/\tadd\(n, theta, z, work\);\n//' unit test_coa
mutate coa_bound_high src/published/coa.c 's/trace \* trace \/ sum\)/1.01 * trace * trace \/ sum)/' unit test_coa
mutate smoothing_floor_lost src/published/smoothing.c 's/fmax\(value\[k\], floor\)/fmax(value[k], 0.0)/' unit test_smoothing
mutate p_identity_objective src/strategy/p_identity.c 's/(design->objective = least \* s\.f\.mean)/$1 \/ 2/' unit test_p_identity
mutate p_identity_column_sum src/strategy/p_identity.c 's/(column\[j\] = )1 \/ sum/${1}2 \/ sum/' unit test_p_identity
mutate round_objective src/strategy/round_dense.c 's/return error \* squared_sensitivity/return 0.5 * error * squared_sensitivity/' unit test_optimal_l1
mutate round_short_columns src/strategy/round_dense.c 's/missing > 0 && at < count/missing > 1 && at < count/' unit test_optimal_l1
mutate max_sensitivity_dropped src/strategy/optimum_max.c 's/dual->worst \* dual->largest \*/dual->worst */' unit test_optimum_max
mutate closed_form_sign src/strategy/closed_form.c 's/agree - apart/agree + apart/' unit test_closed_form
mutate direct_free_of_sensitivity src/methods/competitors.c 's/\+= squared \* workload/+= workload/' unit test_competitors
mutate max_half_of_inverse src/strategy/maker.c 's/c\[\(size_t\) i \* inner \+ j\] = c\[\(size_t\) j \* inner \+ i\];/c[(size_t) i * inner + j] = 0;/' unit test_competitors
mutate strategy_of_another_method src/ledger/strategies.c 's/pe_method_name\(key->method\), key->objective/"any", key->objective/' regress optimize
mutate strategy_of_another_norm src/ledger/strategies.c 's/key->norm == PE_L1 \? "l1" : "l2"/"l2"/' regress optimize
mutate strategy_of_another_objective src/ledger/strategies.c 's/key->objective == PE_MAX \? "max" : "sum"/"sum"/' regress optimize
mutate workload_received_unread src/api/workload_type.c 's/(pq_getmsgtext.*\n\n\tPG_RETURN_TEXT_P\(cstring_to_text\()pe_canonical_workload\(text\)/$1text/' tap 053_workloads
mutate compare_dawa_whole_epsilon src/api/compare.c 's/c->nano = c->pure_nano = pe_nano_rho_down\(epsilon\)/c->nano = pe_nano_rho_down(epsilon), c->pure_nano = 4 * c->nano/' regress compare
mutate intervals_sensitivity_halved src/published/partition.c 's/return sensitivity \* max_rows/return (sensitivity + 1) \/ 2 * max_rows/' unit test_partition
mutate intervals_substitute src/published/partition.c 's/\(neighbours == PE_SUBSTITUTE \? 2 : 1\);/1;/' unit test_partition
mutate intervals_max_rows src/published/partition.c 's/sensitivity \* max_rows \*/sensitivity */' unit test_partition
mutate intervals_padding src/published/partition.c 's/score\[node - 1\] = stands_for_half\(&s\) \? 0 : /score[node - 1] = /' unit test_partition
mutate dawa_split src/counts/dawa.c 's/plan->counts_nano = nano - plan->partition_nano;/plan->counts_nano = nano;/' unit test_dawa
mutate dawa_partition_pays_with_all src/counts/dawa.c 's/plan->partition_nano, noisy\)/plan->partition_nano + plan->counts_nano, noisy)/' unit test_dawa
mutate dawa_counts_halved src/counts/dawa.c 's/rows, buckets->sensitivity, plan/rows, (buckets->sensitivity + 1) \/ 2, plan/' unit test_dawa
mutate dawa_neighbours_forgotten src/counts/dawa.c 's/pe_strategy_sensitivity_l1\(strategy, plan->neighbours, plan->max_rows/pe_strategy_sensitivity_l1(strategy, PE_ADD_REMOVE, 1/' unit test_dawa

mutate units_state_cells src/domain/units.c \
	's/entry\[i\]\.cell >= cells \|\|/entry[i].cell > cells ||/' unit test_units
mutate units_state_max_rows src/domain/units.c \
	's/ && frame->max_rows >= 1//' unit test_units
mutate units_state_unsorted src/domain/units.c \
	's/order > 0 \|\|/false ||/' unit test_units
mutate affine_state_offset src/affine/affine_spec.c \
	's/offset < -PE_OFFSET_MOST \|\| //' unit test_affine
rarely rows_left_by_a_cancel src/door/affine_rows.c \
	's/\tpe_affine_free\(&s->rows\);\n\}\n\nstatic state/\t(void) s;\n}\n\nstatic state/' tap attack_noise
mutate programme_left_in_memory src/affine/programme.c \
	's/\tpe_wipe\(x, count \* sizeof\(double\)\);/\t(void) count;/' tap attack_noise
mutate affine_rows_unlimited src/affine/affine_spec.c \
	's/rows->rows <= spec->most\)/rows->rows <= spec->most + 1)/' unit test_affine
mutate anchor_unasked src/ledger/charge.c \
	's/if \(pe_anchor_fault\(/if (false \&\& pe_anchor_fault(/' tap attack_restore
rarely anchor_unsealed src/ledger/anchor.c \
	's/intact = strcmp\(want.data, text\) == 0/intact = true/' tap attack_restore
rarely anchor_unattested src/ledger/attest.c \
	's/\n\tpe_anchor_advance\(&link, 1\);/\n\t(void) link;/' tap attack_restore
mutate counts_stored_at_once src/door/counts.c \
	's/\n\tpe_door_wait\(start\);//' tap attack_time
rarely interrupt_before_store src/door/door.c \
	's/SetLatch\(MyLatch\);/RESUME_INTERRUPTS(); CHECK_FOR_INTERRUPTS(); HOLD_INTERRUPTS();/' tap attack_noise
mutate result_left_in_memory src/server/shim.c \
	's/\tpe_wipe\(chunk->data, chunk->size\);/\t(void) chunk;/' tap attack_noise
rarely columns_left_in_memory src/door/counts.c \
	's/\tpe_wipe\(columns, [^\n]*\n//' tap attack_noise
rarely sums_left_in_memory src/noise/gaussian.c \
	's/\tpe_wipe\(exact, [^\n]*\n//' tap attack_noise
rarely count_logged src/door/counts.c \
	's/(\t\tc->counts\[cell\] \+= count;)/$1\n\t\telog(DEBUG5, "%ld", (long) count);/' tap attack_noise
rarely nested_plans_logged src/door/door.c \
	's/\n\t\{"auto_explain[^\n]*//g' tap attack_noise
rarely counts_left_by_a_cancel src/door/tally.c \
	's/state->count = pe_alloc_exact\(/state->count = MemoryContextAlloc(/' tap attack_noise
rarely columns_forgotten src/ledger/family.c \
	's/ \|\| column_lets_write\(relation, role\)//' tap attack_door
rarely owner_of_part src/ledger/family.c \
	's/\n\t\tis_member_of_role\(role, \(\(Form_pg_class\) GETSTRUCT\(tuple\)\)->relowner\) \|\|//' tap attack_roles
rarely role_uncommitted src/ledger/budget.c \
	's/\tcheck_role_committed\(\);\n//' tap attack_roles
rarely delta_uncounted src/ledger/charge.c \
	's/\tpe_row_add\(row, "delta_spent", charged.delta_atto\);\n//' tap attack_race
rarely cap_pays_for_replays src/ledger/charge.c \
	's/\n\tif \(reply->release_id == 0\)\n\t\tcap_cost = /\n\tif (true)\n\t\tcap_cost = /' tap attack_free
mutate quantum_for_anybody src/server/settings.c \
	's/(&pe_time_quantum, 10, 0, 60 \* 1000,\s*)PGC_SUSET/${1}PGC_USERSET/' tap attack_free
rarely session_user_pays src/ledger/budget.c \
	's/GetUserId\(\)/GetSessionUserId()/g' tap attack_free
rarely call_without_expression src/api/attribute.c \
	's/pe_argument_type\(fcinfo, n\);\n\tArrayType/get_fn_expr_argtype(fcinfo->flinfo, n);\n\tArrayType/' tap attack_free

echo "1..$N"
rm -rf "$TREE"
[ "$N" -gt 0 ] && [ "$BAD" = 0 ]
