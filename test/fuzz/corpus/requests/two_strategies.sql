-- zcdp_sub_unit ann
SELECT release FROM dp.aggregate('zcdp_sub_unit', '{count(*) where (ok = true),"quantile(fl, 0.9)"}', '{chan}', predicate => 'NOT (ok = false AND chan = ''web'')', rho => 1e-9) LIMIT 1 \gset a_
SELECT dp.publish(:a_release, 'public.t7209')
SELECT * FROM public.t7209
DROP TABLE public.t7209
