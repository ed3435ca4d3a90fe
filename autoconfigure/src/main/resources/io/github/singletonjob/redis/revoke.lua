-- KEYS: lease. ARGV: token, channel. The record is left as it is: the holder has not given its lease back.
local held = redis.call('get', KEYS[1])
if not held or string.match(held, '^%S+ (%d+)') ~= ARGV[1] then
  return { 'gone' }
end
redis.call('del', KEYS[1])
redis.call('publish', ARGV[2], '')
return { 'revoked' }
