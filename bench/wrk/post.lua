-- Posts one body again and again. Arguments: the file that holds it.

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  wrk.method, wrk.body = "POST", file:read("*a")
  wrk.headers["content-type"] = "application/json"
  file:close()
end

function done(summary, latency, requests)
  print(string.format(
    '{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"checked":0,"stale":0,"unreadable":0,"wrong":%d,"broken":%d}',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
