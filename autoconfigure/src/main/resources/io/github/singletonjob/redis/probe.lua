-- KEYS: one that nobody uses. Does what the other scripts do, and leaves nothing.
redis.call('set', KEYS[1], redis.call('time')[1], 'nx', 'px', '1000')
redis.call('incr', KEYS[1])
redis.call('get', KEYS[1])
redis.call('pexpire', KEYS[1], '1000')
redis.call('del', KEYS[1])
return { 'works' }
