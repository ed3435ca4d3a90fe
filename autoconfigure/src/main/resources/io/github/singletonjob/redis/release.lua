-- KEYS: lease, record. ARGV: how the lease begins if it is ours, channel, and if a fire time was completed: its
-- schedule, itself in ms.
local held = redis.call('get', KEYS[1])
if not held or string.sub(held, 1, #ARGV[1]) ~= ARGV[1] then
  return { 'gone' }
end
if ARGV[4] then
  for _, what in ipairs({ 's:', 'c:' }) do
    local known = redis.call('hget', KEYS[2], what .. ARGV[3])
    if not known or tonumber(known) < tonumber(ARGV[4]) then
      redis.call('hset', KEYS[2], what .. ARGV[3], ARGV[4])
    end
  end
end
redis.call('hset', KEYS[2], 'released', string.match(held, '^%S+ (%d+)'))
redis.call('del', KEYS[1])
redis.call('publish', ARGV[2], '')
return { 'released' }
