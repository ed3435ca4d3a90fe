-- KEYS: lease. ARGV: how the lease begins if it is ours, time to live in ms.
local held = redis.call('get', KEYS[1])
if held and string.sub(held, 1, #ARGV[1]) == ARGV[1] then
  redis.call('pexpire', KEYS[1], ARGV[2])
  return { 'extended' }
end
return { 'gone' }
