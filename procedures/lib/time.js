// Days in the device's own time zone.

// Start and end of a day such as '2026-11-21', or of the day that contains a moment; without one, of today. The end is the first
// moment of the next day.
function dayOf(moment) {
  // new Date('2026-11-21') would be midnight in UTC, which is the day before in the west.
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(moment) ?? []
  const date = year ? new Date(year, month - 1, day) : moment === undefined || moment === null ? new Date() : new Date(moment)
  const isOther = year && (date.getMonth() !== month - 1 || date.getDate() !== +day)
  if (Number.isNaN(date.getTime()) || isOther) throw Object.assign(new Error(`'${moment}' is not a date`), { code: 'invalid' })
  const start = new Date(date.getFullYear(), date.getMonth(), date.getDate())
  const end = new Date(date.getFullYear(), date.getMonth(), date.getDate() + 1)
  return { start, end }
}

// The day of a moment as text: 2026-11-21.
function nameOfDay(moment) {
  const date = new Date(moment)
  const padded = number => String(number).padStart(2, '0')
  return `${date.getFullYear()}-${padded(date.getMonth() + 1)}-${padded(date.getDate())}`
}

// The arguments before the callback; the callback comes last, however many there are.
function withoutCallback(values) {
  return [values.slice(0, -1), values[values.length - 1]]
}
