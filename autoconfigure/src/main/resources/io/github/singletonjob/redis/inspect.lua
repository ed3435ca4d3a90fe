-- KEYS: lease, token, record. Answers with the lease, when it ends in ms, the token, and all fields of the record.
local seen = { 'seen', redis.call('get', KEYS[1]) or '', tostring(redis.call('pttl', KEYS[1])),
  redis.call('get', KEYS[2]) or '0' }
for _, each in ipairs(redis.call('hgetall', KEYS[3])) do
  seen[#seen + 1] = each
end
return seen
