// What every procedure has, besides Context and the language. Runs in each fresh context, before any of the owner's code.
(function (natives, now) {
  'use strict'
  const { stringify } = JSON
  const OwnPromise = Promise, OwnError = Error, text = String

  // A test may set the time.
  if (now !== undefined) {
    const Real = Date
    globalThis.Date = class Date extends Real {
      constructor(...values) { values.length ? super(...values) : super(now) }
      static now() { return now }
    }
  }

  const show = value => {
    if (typeof value === 'string') return value
    if (value instanceof OwnError) return text(value)
    try { return stringify(value) ?? text(value) } catch { return '[object]' }
  }
  const log = level => (...values) => { natives.log(level, values.map(show).join(' ')) }
  const define = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
  const present = Date.now
  Object.defineProperty(Context, 'day', { value: (date, zone) => natives.day(date, zone, present()) })
  define('console', Object.freeze({
    log: log('info'), info: log('info'), debug: log('debug'), warn: log('warning'), error: log('error'), trace: log('debug'),
  }))
  define('load', name => { natives.load(text(name)) })
  define('Procedure', Object.freeze({ call: (name, ...values) => natives.call(text(name), values) }))

  return {
    // Waits for a value that may be a promise.
    follow: (value, settled, failed) => { OwnPromise.resolve(value).then(settled, failed) },
    // A promise of the answer, for a procedure that another procedure called.
    promise: (value, answer) => OwnPromise.resolve(value).then(answer),
  }
})
