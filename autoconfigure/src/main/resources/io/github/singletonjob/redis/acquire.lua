-- KEYS: lease, token. ARGV: owner, holder, time to live in ms, floor.
-- The lease is "owner token holder". Tokens are compared as text: Lua's numbers have 53 bits.
local function below(a, b)
  return #a < #b or (#a == #b and a < b)
end
local held = redis.call('get', KEYS[1])
if held then
  local owner, token, holder = string.match(held, '^(%S+) (%d+) (.*)$')
  if owner ~= ARGV[1] then
    return { 'held', holder }
  end
  redis.call('pexpire', KEYS[1], ARGV[3])
  return { 'granted', token }
end
local time = redis.call('time')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
local last = redis.call('get', KEYS[2]) or '0'
if below(last, now) then
  last = now
end
if below(last, ARGV[4]) then
  last = ARGV[4]
end
redis.call('set', KEYS[2], last)
redis.call('incr', KEYS[2])
local token = redis.call('get', KEYS[2])
redis.call('set', KEYS[1], ARGV[1] .. ' ' .. token .. ' ' .. ARGV[2], 'nx', 'px', ARGV[3])
return { 'granted', token }
