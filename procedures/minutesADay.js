// Minutes of sound and of recording for each day: execute(start, end, callback).
// It needs both events: record: [{event: playState, keep: 90d}, {event: recState, keep: 90d}] in the settings.
load('lib/time.js')

// While something plays or records, several events come each second: during a longer gap nothing was recorded.
const longestGap = 5000

function execute(start, end, callback) {
  const days = {}
  for (const [kind, state, name] of [['playState', 'playing', 'sound'], ['recState', 'recording', 'recording']]) {
    const running = {}
    for (const entry of Context.context().query({ kind, from: start, to: end })) {
      const { file, state: now } = entry.data ?? {}
      const time = Date.parse(entry.date)
      if (file in running) {
        const day = days[nameOfDay(entry.date)] ??= { sound: 0, recording: 0 }
        day[name] += Math.min(time - running[file], longestGap)
      }
      if (now === state) running[file] = time
      else delete running[file]
    }
  }
  callback(Object.keys(days).sort().map(day => ({
    day,
    sound: Math.round(days[day].sound / 600) / 100,
    recording: Math.round(days[day].recording / 600) / 100,
  })))
}
