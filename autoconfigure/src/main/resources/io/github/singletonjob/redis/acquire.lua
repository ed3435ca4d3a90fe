-- KEYS: lease, token, record. ARGV: owner, holder, time to live in ms, floor, and for a firing: schedule, its fire
-- time or nothing, 1 if what is open may be finished. Instants are milliseconds, and stay text unless compared.
-- The lease is "owner token fireTime/takeover/completedBefore/followsUnreleased holder".
local function below(a, b) -- tokens can have more digits than Lua's numbers
  return #a < #b or (#a == #b and a < b)
end
local function after(a, b)
  return b == '' or tonumber(a) > tonumber(b)
end
local held = redis.call('get', KEYS[1])
if held then
  local owner, token, run, holder = string.match(held, '^(%S+) (%d+) (%S+) (.*)$')
  if owner ~= ARGV[1] then
    return { 'held', holder }
  end
  redis.call('pexpire', KEYS[1], ARGV[3])
  return { 'granted', token, run }
end
local time = redis.call('time')
local now = time[1] .. string.format('%03d', math.floor(time[2] / 1000))
local schedule, due = ARGV[5], ARGV[6]
local fire, takeover, completed = '', '0', ''
if schedule then
  if due ~= '' and tonumber(due) > tonumber(now) + 300000 then
    return { 'early', now }
  end
  local known = redis.call('hmget', KEYS[3], 's:' .. schedule, 'c:' .. schedule)
  local started = known[1] or ''
  completed = known[2] or ''
  local open = started ~= '' and after(started, completed)
  if due ~= '' and not after(due, completed) then
    return { 'ran', completed }
  end
  if open and ARGV[7] == '1' then
    fire, takeover = started, '1'
  elseif due ~= '' and after(due, started) then
    fire = due
  else
    return { 'ran', completed }
  end
end
local last = redis.call('get', KEYS[2])
local unreleased = '0'
if last and redis.call('hget', KEYS[3], 'released') ~= last then
  unreleased = '1'
end
last = last or '0'
if below(last, now) then
  last = now
end
if below(last, ARGV[4]) then
  last = ARGV[4]
end
redis.call('set', KEYS[2], last)
redis.call('incr', KEYS[2])
local token = redis.call('get', KEYS[2])
local run = fire .. '/' .. takeover .. '/' .. completed .. '/' .. unreleased
redis.call('set', KEYS[1], ARGV[1] .. ' ' .. token .. ' ' .. run .. ' ' .. ARGV[2], 'nx', 'px', ARGV[3])
if fire ~= '' and takeover == '0' then
  redis.call('hset', KEYS[3], 's:' .. schedule, fire)
end
return { 'granted', token, run }
