// How far the device has moved on a day, in metres: execute(day?, callback), today where no day is given.
// It needs the positions: record: [{event: location, keep: 90d}] in the settings.
load('lib/time.js')

// On a sphere with the Earth's mean radius (the haversine formula), accurate to half a per cent.
function metres(a, b) {
  const rad = Math.PI / 180
  const across = Math.sin((b.latitude - a.latitude) * rad / 2) ** 2
    + Math.cos(a.latitude * rad) * Math.cos(b.latitude * rad) * Math.sin((b.longitude - a.longitude) * rad / 2) ** 2
  return 2 * 6371008.8 * Math.asin(Math.min(1, Math.sqrt(across)))
}

function execute(...values) {
  const [[day], callback] = withoutCallback(values)
  const { start, end } = dayOf(day)
  let last, sum = 0, positions = 0
  for (const { data } of Context.context().query({ kind: 'location', from: start, to: end })) {
    if (typeof data?.latitude !== 'number' || typeof data.longitude !== 'number') continue
    positions += 1
    if (last) {
      // The position of a receiver that does not move still drifts within its accuracy.
      const way = metres(last, data)
      if (way < Math.max(data.accuracy ?? 0, 10)) continue
      sum += way
    }
    last = data
  }
  callback({ metres: Math.round(sum), positions })
}
