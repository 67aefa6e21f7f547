// Numbers, or what else there is to be drawn: execute(shape, count?, callback).
load('lib/time.js')

function execute(...values) {
  const [[shape, count], callback] = withoutCallback(values)
  const all = Array.from({ length: count ?? 40 }, (_, index) => index)
  const wave = index => Math.round(Math.sin(index / 5) * 1000) / 1000
  callback(({
    numbers: () => all.map(wave),
    pairs: () => all.map(index => [index / 10, wave(index)]),
    objects: () => all.map(index => ({ weight: index, height: wave(index) })),
    days: () => all.map(index => ({ day: new Date(Date.UTC(2026, 9, 1 + index)).toISOString().slice(0, 10), sound: 20 + wave(index), recording: index % 7 ? index : null })),
    moments: () => all.map(index => ({ date: new Date(Date.UTC(2026, 9, 1, 0, index * 11)), load: wave(index) })),
    words: () => all.map(index => ({ command: 'c' + index, calls: index })),
    lists: () => [[1, 2, 3], ['a']],
    mixed: () => [1, 'two', null, { three: 3 }],
    extreme: () => [1e308, -1e308, 5e-324],
    tiny: () => [0, 5e-324, 1e-320],
    wide: () => [Object.fromEntries(all.map(index => ['c' + index, index]))],
    text: () => 'x'.repeat(2e6),
    same: () => [3, 3, 3],
    large: () => [1e12, -5e11, 0],
    markup: () => [{ '<b>x</b>': '<img src=x onerror=alert(1)>' }],
    object: () => ({ metres: 5, positions: 7 }),
    nothing: () => null,
    empty: () => [],
    shape: () => shape,
  }[shape])())
}
