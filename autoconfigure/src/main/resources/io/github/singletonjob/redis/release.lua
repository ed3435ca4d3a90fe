-- KEYS: lease. ARGV: how the lease begins if it is ours.
local held = redis.call('get', KEYS[1])
if held and string.sub(held, 1, #ARGV[1]) == ARGV[1] then
  redis.call('del', KEYS[1])
  return { 'released' }
end
return { 'gone' }
