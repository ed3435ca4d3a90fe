-- KEYS: lease, record. ARGV: how the lease begins if it is ours, schedule, completed fire time in ms.
local held = redis.call('get', KEYS[1])
if not held or string.sub(held, 1, #ARGV[1]) ~= ARGV[1] then
  return { 'gone' }
end
for _, what in ipairs({ 's:', 'c:' }) do
  local known = redis.call('hget', KEYS[2], what .. ARGV[2])
  if not known or tonumber(known) < tonumber(ARGV[3]) then
    redis.call('hset', KEYS[2], what .. ARGV[2], ARGV[3])
  end
end
return { 'completed' }
