-- Checks that every reply holds every commit that was acknowledged before its request was sent.
--
-- The writer of the benchmark keeps the number of the last acknowledged commit in a file of 8 bytes, mapped here. A request
-- carries the number in x-request-id, which the server sends back; so each reply is compared with its own request's number,
-- however replies and connections interleave.
--
-- Arguments: the file; where a reply says its number: `property` (a property in the body), `location` (the name of the
-- metadata file, which stands uncompressed before a compressed body) or `nothing`; the status that is right.

local ffi = require("ffi")
ffi.cdef [[
int open(const char *path, int flags);
void *mmap(void *address, size_t length, int protection, int flags, int file, long offset);
]]

local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  local file = ffi.C.open(arguments[1], 0)
  local mapped = ffi.C.mmap(nil, 8, 1, 1, file, 0) -- PROT_READ, MAP_SHARED
  assert(file >= 0 and ffi.cast("intptr_t", mapped) ~= -1, "the file of the writer can't be read")
  acknowledged = ffi.cast("volatile int64_t *", mapped)
  where, right = arguments[2], tonumber(arguments[3])
  checked, stale, unreadable, wrong = 0, 0, 0, 0
  wrk.headers["x-request-id"] = "acknowledged-############"
  local template = wrk.format("GET")
  local from, to = template:find("############", 1, true)
  before, after = template:sub(1, from - 1), template:sub(to + 1)
end

local last, prepared = nil, nil

function request()
  local number = tonumber(acknowledged[0])
  if number ~= last then
    last, prepared = number, before .. string.format("%012d", number) .. after
  end
  return prepared
end

function response(status, headers, body)
  if status ~= right then
    wrong = wrong + 1
    return
  end
  checked = checked + 1
  if where == "nothing" then return end
  local found
  if where == "property" then
    local _, to = body:find('"bench.sequence":"', 1, true)
    found = to and tonumber(body:sub(to + 1, to + 12))
  else
    found = tonumber(body:sub(1, 600):match("/metadata/(%d+)%-"))
  end
  if not found then
    unreadable = unreadable + 1
  elseif found < tonumber(headers["X-Request-Id"]:sub(-12)) then
    stale = stale + 1
  end
end

function done(summary, latency, requests)
  local sums = { checked = 0, stale = 0, unreadable = 0, wrong = 0 }
  for _, thread in ipairs(threads) do
    for name in pairs(sums) do sums[name] = sums[name] + thread:get(name) end
  end
  print(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"checked":%d,"stale":%d,"unreadable":%d,"wrong":%d,"broken":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
    sums.checked, sums.stale, sums.unreadable, sums.wrong,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
