-- as ann
SELECT dp.publish(1, 'public.published', replace => true)
