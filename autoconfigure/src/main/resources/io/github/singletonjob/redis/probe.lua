-- KEYS: two of one slot that nobody uses. ARGV: a channel. Does what the other scripts do, and leaves nothing.
redis.call('set', KEYS[1], redis.call('time')[1], 'nx', 'px', '1000')
redis.call('incr', KEYS[1])
redis.call('get', KEYS[1])
redis.call('pexpire', KEYS[1], '1000')
redis.call('pttl', KEYS[1])
redis.call('del', KEYS[1])
redis.call('hset', KEYS[2], 'a', '1')
redis.call('hget', KEYS[2], 'a')
redis.call('hmget', KEYS[2], 'a', 'b')
redis.call('hgetall', KEYS[2])
redis.call('del', KEYS[2])
redis.call('publish', ARGV[1], '')
return { 'works' }
