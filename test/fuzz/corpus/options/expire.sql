-- as curator
SELECT dp.expire_release(1)
