#!/usr/bin/env node
// Runs a stored procedure under Node, over entries that «quickconnect data export» has written: the same file, the same
// answer. Use it to write and test procedures without a device.
//
//   node procedure.js hasEntries.js entries.jsonl 2026-11-21 2026-11-22
//
// An argument that is JSON stays JSON, any other becomes a string. Prints the answer as JSON; changes are not written back.
// Or as a module: const { run } = require('./procedure.js'); await run('hasEntries.js', entries, ['2026-11-21', '2026-11-22']).
// One file without dependencies, for Node 18 and newer. `Context.sql` needs the program sqlite3, 3.37 or newer.
'use strict'
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')

class ProcedureError extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}
const refuse = message => { throw new ProcedureError('scriptFailed', message) }

const form = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,20}))?)?(Z|[+-]\d\d:?\d\d))?$/

// A moment as the device stores it: UTC, to the millisecond. A day without a time is its first moment in UTC.
function moment(value) {
  const text = typeof value?.toJSON === 'function' ? value.toJSON() : value
  const parts = typeof text === 'string' ? form.exec(text) : null
  if (!parts) refuse(`'${text}' is not a date: give ISO 8601 with a zone, such as 2026-11-21T10:00:00Z`)
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = parts
  const date = new Date(0)
  date.setUTCFullYear(+year, month - 1, +day)
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === +day
  if (!isDay || hour > 23 || minute > 59 || second > 59) refuse(`'${text}' is not a date`)
  const shift = zone === 'Z' ? 0 : (zone[0] === '-' ? -1 : 1) * (+zone.slice(1, 3) * 60 + +zone.slice(-2))
  date.setUTCHours(+hour, minute - shift, +second, +fraction.padEnd(3, '0').slice(0, 3))
  return date.toISOString()
}

const members = ['id', 'date', 'kind', 'data', 'source']
const text = (value, what) => typeof value === 'string' && Buffer.byteLength(value) <= 200 && (value || what === 'source')
  ? value : refuse(`${what} is a text of at most 200 bytes`)

function known(object, names, what) {
  if (typeof object !== 'object' || object === null || Array.isArray(object)) refuse(`${what} is an object`)
  for (const name of Object.keys(object)) if (!names.includes(name)) refuse(`${what} has no member '${name}'`)
}

// The entries of a run, and the operations of a procedure on them.
class Store {
  constructor(entries, source) {
    this.source = source
    this.entries = new Map()
    this.last = 0
    for (const entry of entries) this.add(entry)
    // The entries that sql sees, without the changes of this call.
    this.before = [...this.entries.values()].map(entry => ({ ...entry }))
  }

  add(entry) {
    known(entry, members, 'an entry')
    const { id = this.last + 1, date = new Date(), kind, data = null, source = this.source } = entry
    if (!Number.isInteger(id) || id < 1) refuse('an id is a whole number from 1')
    if (this.entries.has(id)) refuse(`there is an entry ${id} already: change it by update`)
    this.entries.set(id, { id, date: moment(date), kind: text(kind, 'kind'), data, source: text(source, 'source') })
    this.last = Math.max(this.last, id)
    return id
  }

  update(id, changes) {
    known(changes, members.slice(1), 'what changes')
    const entry = this.entries.get(id)
    if (!entry) return false
    if (changes.date !== undefined) entry.date = moment(changes.date)
    if (changes.kind !== undefined) entry.kind = text(changes.kind, 'kind')
    if (changes.source !== undefined) entry.source = text(changes.source, 'source')
    if (changes.data !== undefined) entry.data = changes.data
    return true
  }

  query(what) {
    const { kind, from, to, where, order = 'date', limit } = what ?? {}
    known(what ?? {}, ['kind', 'from', 'to', 'where', 'order', 'limit'], 'a query')
    if (!['date', '-date', 'id', '-id'].includes(order)) refuse('order is one of date, -date, id, -id')
    const [start, end] = [from, to].map(value => value === undefined || value === null ? null : moment(value))
    let found = [...this.entries.values()].filter(entry => (kind == null || entry.kind === kind)
      && (start === null || entry.date >= start) && (end === null || entry.date < end)
      && Object.entries(where ?? {}).every(([name, value]) => fits(entry, name, value)))
    const sign = order[0] === '-' ? -1 : 1
    const byDate = (a, b) => a.date < b.date ? -1 : a.date > b.date ? 1 : 0
    found.sort((a, b) => sign * ((order.endsWith('date') ? byDate(a, b) : 0) || a.id - b.id))
    if (limit != null) found = found.slice(0, limit)
    return found
  }
}

// SQL over the entries, as on the device

const shape = `CREATE TABLE entries(id INTEGER PRIMARY KEY AUTOINCREMENT, date TEXT NOT NULL, kind TEXT NOT NULL,
  data TEXT NOT NULL DEFAULT 'null', source TEXT NOT NULL DEFAULT '')`
const mostRows = 10000, mostMilliseconds = 5000, mostBytes = 8 << 20

// A value as an SQLite literal.
function literal(value) {
  if (value === null) return 'NULL'
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'number') return JSON.stringify(value)
  if (typeof value !== 'string') refuse('a value that is compared or bound is a text, a number, a boolean or null')
  return /[\0-\x1f]/.test(value) ? `CAST(x'${Buffer.from(value).toString('hex')}' AS TEXT)` : `'${value.replace(/'/g, "''")}'`
}

// The words of a statement, without its strings and comments.
function wordsOf(statement) {
  const token = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*[^]*?(?:\*\/|$)|\?\d*|[:@$]?[\p{L}_][\p{L}\p{N}_$]*|[^\s]/gu
  return (statement.match(token) ?? []).filter(word => !/^(--|\/\*)/.test(word))
}

// The names that SQLite gives to a statement's parameters, in order.
function parametersOf(words) {
  let last = 0
  const named = new Map()
  for (const word of words) {
    if (word === '?') last += 1
    else if (/^\?\d/.test(word)) last = Math.max(last, +word.slice(1))
    else if (/^[:@$]./.test(word) && !named.has(word)) named.set(word, last += 1)
  }
  const names = Array.from({ length: last }, (_, index) => `?${index + 1}`)
  for (const [name, number] of named) names[number - 1] = name
  return names
}

// The rows of a SELECT. The program sqlite3 computes them from the entries before the call.
function rowsOf(statement, values, entries) {
  if (typeof statement !== 'string') refuse('sql takes a text and an array of parameters')
  if (!Array.isArray(values)) refuse('the parameters of sql are an array')
  const words = wordsOf(statement)
  while (words.at(-1) === ';') words.pop()
  if (!words.length) refuse('the text holds no statement')
  if (!/^(select|with|values)$/i.test(words[0])) refuse('sql only reads: use save, update and delete')
  if (words.includes(';')) refuse('the text holds more than one statement')
  const foreign = words.find(word => /^["`[]?(pragma_\w+|sqlite_(schema|master|sequence|temp_\w+|dbpage|stat\d|stmt))/i.test(word))
  if (foreign) refuse(`SQL: access to ${foreign} is prohibited`)
  const names = parametersOf(words)
  if (names.length !== values.length) refuse(`the statement has ${names.length} parameters, and ${values.length} values are given`)
  const rows = entries.map(({ id, date, kind, data, source }) => `INSERT INTO entries VALUES(${[id, date, kind, JSON.stringify(data), source].map(literal)});`)
  const bound = values.map((value, index) => `INSERT INTO temp.sqlite_parameters VALUES('${names[index]}', ${literal(value)});`)
  const script = ['BEGIN;', `${shape};`, ...rows, 'COMMIT;', '.parameter init', ...bound, 'PRAGMA query_only = ON;', statement, ';', '']
  const done = spawnSync('sqlite3', ['-safe', '-bail', '-batch', '-json', ':memory:'], {
    input: script.join('\n'), encoding: 'utf8', timeout: mostMilliseconds, killSignal: 'SIGKILL', maxBuffer: 2 * mostBytes,
  })
  if (done.error?.code === 'ENOENT') refuse('sql needs the program sqlite3 here: as root, apt-get install sqlite3; or use query')
  if (done.error?.code === 'ETIMEDOUT') throw new ProcedureError('timeout', `the statement took longer than ${mostMilliseconds / 1000} s (sqlTime)`)
  const tooLarge = () => new ProcedureError('tooLarge', `the statement has more than ${mostRows} rows (sqlRows) or ${mostBytes >> 20} MiB`)
  if (done.error?.code === 'ENOBUFS') throw tooLarge()
  if (done.error) refuse(`sqlite3 cannot be run: ${done.error.message}`)
  if (done.status !== 0) refuse(`SQL: ${done.stderr.split('\n')[0].replace(/^\w+ error near line \d+: |^Error: /, '')}`)
  const found = JSON.parse(done.stdout || '[]')
  if (found.length > mostRows || done.stdout.length > mostBytes) throw tooLarge()
  return found
}

const tests = {
  eq: (a, b) => a === b, ne: (a, b) => a !== b, in: (a, b) => b.includes(a),
  lt: (a, b) => ordered(a, b) && a < b, le: (a, b) => ordered(a, b) && a <= b,
  gt: (a, b) => ordered(a, b) && a > b, ge: (a, b) => ordered(a, b) && a >= b,
}
const ordered = (a, b) => a !== null && typeof a === typeof b

function fits(entry, name, value) {
  if (!members.includes(name) && !name.startsWith('data.')) refuse(`where names no '${name}'`)
  const found = name.split('.').reduce((object, key) => object?.[key] ?? null, entry)
  const operators = typeof value === 'object' && value !== null && !(value instanceof Date) ? value : { eq: value }
  return Object.entries(operators).every(([sign, other]) => {
    if (!tests[sign]) refuse(`where has no operator '${sign}'`)
    return tests[sign](found, name === 'date' ? moment(other) : other)
  })
}

// Local days

// By how many milliseconds a zone's clocks are ahead of UTC; without a zone, those of this process.
function offsetIn(zone) {
  const clock = new Intl.DateTimeFormat('en-US', { timeZone: zone, calendar: 'iso8601', hourCycle: 'h23', year: 'numeric', month: 'numeric',
    day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' })
  return time => {
    const { year, month, day, hour, minute, second } = Object.fromEntries(clock.formatToParts(time).map(({ type, value }) => [type, +value]))
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000
  }
}

// The first moment at which clocks show at least this date, which is midnight, or later where they are put forward at midnight.
function firstMoment(date, offset) {
  const farthest = 26 * 3600e3, end = date + farthest
  let begin = date - farthest
  while (begin + offset(begin) < date) {
    const ahead = offset(begin), candidate = Math.max(begin, date - ahead)
    let change = end
    for (let probe = begin; probe < end; probe += farthest / 2) {
      if (offset(probe + farthest / 2) === ahead) continue
      let before = probe
      change = probe + farthest / 2
      while (change - before > 1000) {
        const middle = before + Math.floor((change - before) / 2000) * 1000
        if (offset(middle) === ahead) before = middle
        else change = middle
      }
      break
    }
    if (candidate < change) return candidate
    begin = change
  }
  return begin
}

// The bounds of a day such as 2026-11-23, or of today, where no zone is named in the zone of this process.
function dayOf(text, zone) {
  const invalid = sentence => { throw new ProcedureError('invalid', sentence) }
  let offset
  try {
    offset = offsetIn(zone ?? undefined)
  } catch {
    invalid(`there is no time zone '${zone}': give its name, such as Europe/Dublin`)
  }
  const now = Date.now()
  const named = text === undefined || text === null ? new Date(now + offset(now)).toISOString().slice(0, 10) : String(text)
  const isDay = /^\d{4}-\d\d-\d\d$/.test(named), date = isDay ? Date.parse(named) : NaN
  if (Number.isNaN(date) || new Date(date).toISOString().slice(0, 10) !== named) invalid(`'${named}' is not a day: give one such as 2026-11-23`)
  return { begin: new Date(firstMoment(date, offset)).toISOString(), end: new Date(firstMoment(date + 86400e3, offset)).toISOString() }
}

// Runs `execute` of a file in a fresh context until it returns: { value }, or what it has `returned`.
function start(file, entries, values, depth, store) {
  const name = path.basename(file, '.js')
  const own = store ?? new Store(entries, name)
  const context = vm.createContext({ console })
  // Values are passed in as JSON: the procedure's objects belong to its own context, as on the device.
  const natives = {
    query: what => JSON.stringify(own.query(JSON.parse(what))),
    save: entry => own.add(JSON.parse(entry)),
    update: (id, changes) => own.update(id, JSON.parse(changes)),
    delete: id => own.entries.delete(id),
    sql: (statement, values) => JSON.stringify(rowsOf(JSON.parse(statement), JSON.parse(values) ?? [], own.before)),
    load: part => {
      if (!/^lib\/[\w./-]+$/.test(part) || part.includes('..')) refuse('load takes the name of a file below lib/')
      const library = path.join(path.dirname(file), part)
      vm.runInContext(fs.readFileSync(library, 'utf8'), context, { filename: library })
    },
    call: (other, list) => {
      if (depth >= 8) refuse('more than 8 procedures call each other')
      if (!/^\w[\w-]*$/.test(other)) refuse(`there is no procedure '${other}'`)
      const outcome = start(path.join(path.dirname(file), `${other}.js`), [], JSON.parse(list), depth + 1, own)
      return typeof outcome.returned?.then === 'function' ? end(outcome, other) : value(outcome, other)
    },
    day: (date, zone) => JSON.stringify(dayOf(date, zone)),
    refuse,
  }
  const setUp = vm.runInContext(`(function (natives) {
    const json = value => JSON.stringify(value) ?? 'null'
    // JSON writes an invalid Date and NaN as null, which would be a missing member.
    const whole = (value, names) => {
      const text = json(value), object = JSON.parse(text)
      for (const name of names) {
        if (value?.[name] != null && object?.[name] == null) natives.refuse(name + ' is ' + value[name] + ', which JSON cannot express: '
          + 'give another value, or leave it out')
      }
      return text
    }
    const inQuery = ['kind', 'from', 'to', 'where', 'order', 'limit'], inEntry = ['date', 'source']
    const context = Object.freeze({
      queryEntriesBetweenDateStartEnd: (start, end) => {
        if (start == null || end == null) natives.refuse('the start or the end is not a date')
        return JSON.parse(natives.query(whole({ from: start, to: end }, inQuery)))
      },
      query: what => JSON.parse(natives.query(whole(what, inQuery))),
      count: what => JSON.parse(natives.query(whole(what, inQuery))).length,
      save: entry => natives.save(whole(entry, inEntry)),
      update: (id, changes) => natives.update(id, whole(changes, inEntry)),
      delete: id => natives.delete(id),
      sql: (statement, values) => JSON.parse(natives.sql(json(statement), json(values))),
    })
    globalThis.Context = Object.freeze({ context: () => context, day: (date, zone) => JSON.parse(natives.day(date, zone)) })
    globalThis.load = name => { natives.load(String(name)) }
    globalThis.Procedure = Object.freeze({ call: (name, ...values) => natives.call(String(name), json(values)) })
    return list => JSON.parse(list)
  })`, context)
  const values2 = setUp(natives)(JSON.stringify(values))
  vm.runInContext(fs.readFileSync(file, 'utf8').replace(/^#!/, '//'), context, { filename: file })
  const execute = vm.runInContext("typeof execute === 'function' ? execute : undefined", context)
  if (!execute) refuse(`${file} has no function execute`)
  let answer
  const outcome = { get answer() { return answer }, returned: undefined }
  // Where arguments are left out, the callback is in its place all the same.
  while (values2.length < execute.length - 1) values2.push(undefined)
  outcome.returned = execute(...values2, value => { answer ??= { value: copy(value) } })
  return outcome
}

const copy = value => value === undefined ? null : JSON.parse(JSON.stringify(value) ?? 'null')

// The first value given to the callback, or else the return value.
function value({ answer, returned }, name) {
  if (answer) return answer.value
  if (returned !== undefined) return copy(returned)
  throw new ProcedureError('timeout', `${name} gives no answer: it calls no callback, and returns nothing`)
}

async function end(outcome, name) {
  const returned = await outcome.returned
  return value({ answer: outcome.answer, returned }, name)
}

// Runs a procedure and resolves to its answer.
const run = async (file, entries, values = []) =>
  end(start(file, entries, values, 0), path.basename(file, '.js'))

// The entries of a file of JSON lines.
const read = file => fs.readFileSync(file, 'utf8').split('\n').filter(line => line.trim()).map(line => JSON.parse(line))

module.exports = { run, read, ProcedureError }

if (require.main === module) {
  const [file, data, ...words] = process.argv.slice(2)
  if (!file || !data) {
    console.error('usage: node procedure.js PROCEDURE.js ENTRIES.jsonl [ARGUMENT…]')
    process.exit(2)
  }
  const values = words.map(word => { try { return JSON.parse(word) } catch { return word } })
  // The console output of a procedure is not part of its answer.
  globalThis.console.log = console.error
  run(file, read(data), values).then(
    value => process.stdout.write(`${JSON.stringify(value)}\n`),
    error => {
      process.stderr.write(`${error.code ?? 'scriptFailed'}: ${error.stack ?? error}\n`)
      process.exitCode = 1
    },
  )
}
