-- Checks that every reply holds every commit that was acknowledged before its request was sent.
--
-- The writer of the benchmark keeps the number of the last acknowledged commit in a file of 8 bytes, mapped here. A request
-- carries the number in x-request-id, which the server sends back; so each reply is compared with its own request's number,
-- however replies and connections interleave. Of many paths each has a number of its own, in the file's order.
--
-- Arguments: the file; where a reply says its number: `property` (a property in the body), `location` (the name of the
-- metadata file, which stands uncompressed before a compressed body), `name` (a name in a listing, "fresh-" and the number) or
-- `nothing`; the status that is right; where there are many of them, a file of paths, a line each, and one of tokens, of which
-- each request takes one at random.

local ffi = require("ffi")
ffi.cdef [[
int open(const char *path, int flags);
void *mmap(void *address, size_t length, int protection, int flags, int file, long offset);
]]

local threads = {}
local MARK, PATH, TOKEN = "############", "/PATH-OF-MANY", "TOKEN-OF-MANY"

local function lines(name)
  local found = {}
  for line in io.lines(name) do table.insert(found, line) end
  assert(#found > 0, name .. " is empty")
  return found
end

-- The text around marks in it, in their order.
local function around(text, ...)
  local parts = {}
  for _, mark in ipairs({...}) do
    local from, to = text:find(mark, 1, true)
    assert(from, mark .. " is not in the request")
    table.insert(parts, text:sub(1, from - 1))
    text = text:sub(to + 1)
  end
  table.insert(parts, text)
  return unpack(parts)
end

function setup(thread)
  table.insert(threads, thread)
end

function init(arguments)
  local file = ffi.C.open(arguments[1], 0)
  paths = arguments[4] and lines(arguments[4])
  tokens = arguments[5] and lines(arguments[5])
  local mapped = ffi.C.mmap(nil, 8 * (paths and #paths or 1), 1, 1, file, 0) -- PROT_READ, MAP_SHARED
  assert(file >= 0 and ffi.cast("intptr_t", mapped) ~= -1, "the file of the writer can't be read")
  acknowledged = ffi.cast("volatile int64_t *", mapped)
  where, right = arguments[2], tonumber(arguments[3])
  checked, stale, unreadable, wrong = 0, 0, 0, 0
  if not paths then
    wrk.headers["x-request-id"] = "acknowledged-" .. MARK
    before, after = around(wrk.format("GET"), MARK)
    return
  end
  -- headers stand in no order of their own: one of them holds both marks
  wrk.headers["x-request-id"] = "acknowledged-" .. MARK .. "\r\nauthorization: Bearer " .. TOKEN
  before, between, among, after = around(wrk.format("GET", PATH), PATH, MARK, TOKEN)
  math.randomseed(os.time())
end

local last, prepared = nil, nil

function request()
  if paths then
    local chosen = math.random(#paths)
    local number = string.format("%012d", tonumber(acknowledged[chosen - 1]))
    return before .. paths[chosen] .. between .. number .. among .. tokens[math.random(#tokens)] .. after
  end
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
  elseif where == "name" then
    local _, to = body:find('"fresh-', 1, true)
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
