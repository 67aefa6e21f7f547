// SPDX-License-Identifier: Apache-2.0
// What the mappings declare: hardware, events and schedules, as they are, come and run. Each has a card (#hardware-card, …), hidden where there is none.
import { $, calls, device, listen, make, may, onCall, placeOf, soon, tell, whenConnected } from './page.js'

const { call } = device

/** A moment by local time, with seconds only where it has some; without its day, where it is of today. */
function time(milliseconds) {
	const date = new Date(milliseconds), isToday = date.toDateString() === new Date().toDateString()
	const day = isToday ? {} : { weekday: 'short', day: 'numeric', month: 'short', year: date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric' }
	return date.toLocaleString([], { ...day, hour: '2-digit', minute: '2-digit', second: milliseconds % 60000 ? '2-digit' : undefined })
}

/** `at 22:00, mon tue` */
function words({ at, every, days, dates }) {
	return [at ? 'at ' + at : 'every ' + every, days?.join(' '), dates?.map(date => date + '.').join(' ')].filter(Boolean).join(', ')
}

function row(name, help, ...more) {
	return make('li', { 'data-name': name }, make('div', {}, name, make('small', {}, help || '')), ...more)
}

// Events

/** What has come, and when, by name: a list that is made anew shows it again. */
const told = new Map()

/** What presses the keys of a simulated device, or types on it. */
function hand(name, keys) {
	if (keys) return keys.map(key => {
		const button = make('button', { type: 'button', 'aria-label': `${name}: ${key}` }, key)
		onCall(button, () => ['simulate', name, key])
		return button
	})
	const field = make('input', { 'aria-label': 'Type on ' + name, autocapitalize: 'none', autocomplete: 'off', spellcheck: 'false' })
	const form = make('form', {}, field)
	form.addEventListener('submit', async event => {
		event.preventDefault()
		await call('simulate', name, field.value).then(() => { field.value = '' }, error => tell(placeOf(field), error))
	})
	return [form]
}

function event(name, { help, event: { last, device: from, members } }, simulate) {
	const text = make('span', { class: 'data' }, 'not yet'), at = make('small', {}, '')
	const show = (data, moment) => {
		text.textContent = typeof data === 'string' ? data : JSON.stringify(data)
		at.textContent = moment ? time(moment) : ''
	}
	hear(name, data => {
		told.set(name, [data, Math.floor(Date.now() / 1000) * 1000])
		show(...told.get(name))
	})
	if (told.has(name)) show(...told.get(name))
	// When it came, the device does not say.
	if (last) call(name).then(data => at.textContent || data === null || show(data), () => {})
	return row(name, help, make('div', {}, text, at), ...(from && simulate ? hand(name, members?.key.oneOf) : []))
}

// Schedules

function schedule(name, { help, schedule: declaration }, mayRun) {
	const next = make('span', { class: 'next' }), last = make('small', { class: 'last' })
	const facts = [help, words(declaration)].filter(Boolean).join(' · ')
	let wait
	const show = ({ next: coming, last: done, result }) => {
		clearTimeout(wait)
		next.textContent = coming === null ? 'Next: not known' : 'Next: ' + time(coming)
		const isRunning = done !== null && result === null
		last.replaceChildren(done === null ? 'Has not run yet' : `Last: ${time(done)}, `, done === null ? ''
			: make('span', { class: 'state ' + (isRunning ? '' : result === 'ok' ? 'ok' : 'error') }, isRunning ? 'runs' : result))
		// Its end is no event.
		if (isRunning) wait = setTimeout(look, 2000)
	}
	const look = () => call(name).then(show, () => {})
	hear(name, look)
	look()
	if (!mayRun) return row(name, facts, make('div', {}, next, last))
	const run = make('button', { type: 'button', 'aria-label': 'Run now: ' + name }, 'Run now')
	onCall(run, () => [name, 'run'], show)
	return row(name, facts, make('div', {}, next, last), run)
}

// Hardware

function hardware(name, { help, value: { type, unit, minimum, maximum, input } }, maySet, simulate) {
	const isLine = type === 'boolean', text = make('span', { class: 'data' }), lamp = make('span', { class: 'lamp', hidden: isLine ? null : '' })
	let state
	const setting = () => [...(input ? ['simulate'] : []), name, isLine ? !state : Number(control.value)]
	const control = isLine ? make('button', { type: 'button' }) : make('input', { type: 'range', min: minimum ?? 0, max: maximum ?? 100, step: 'any', 'aria-label': name })
	const show = value => {
		state = value
		lamp.classList.toggle('lit', value === true)
		text.textContent = isLine ? (value ? 'on' : 'off') : [value, unit].filter(part => part !== undefined).join(' ')
		if (isLine) control.textContent = (input ? (value ? 'Release ' : 'Press ') : 'Switch ' + (value ? 'off ' : 'on ')) + name
		else if (document.activeElement !== control) control.value = value
	}
	const look = () => call(name).then(show, error => { text.textContent = error.message })
	hear(name, show)
	look()
	const isSet = value => input ? look() : show(value)
	if (isLine) onCall(control, setting, isSet)
	else {
		calls.set(control, setting)
		control.addEventListener('change', () => call(...setting()).then(isSet, error => tell(placeOf(control), error)))
	}
	return row(name, help, make('div', {}, lamp, text), ...(input ? simulate : maySet) ? [control] : [])
}

// All of them

const heard = new Map()

/** One function for each name, whichever list it is in. */
function hear(name, listener) {
	const isNew = !heard.has(name)
	heard.set(name, listener)
	if (isNew) listen(name, data => heard.get(name)(data))
}

function list(kind, rows) {
	$(kind + '-card').hidden = !rows.length
	$(kind).replaceChildren(...rows)
}

let turn = 0

async function show() {
	const own = ++turn, commands = await call('commands').catch(error => void tell(placeOf($('schedules')), error))
	if (!commands) return
	const declared = Object.entries(commands).filter(([, { event, schedule, value }]) => event || schedule || value?.bound)
	const rights = await Promise.all(declared.map(([name]) => call('can', name).catch(() => ({ allowed: true, verbs: {} }))))
	// A newer answer may have come before.
	if (own !== turn) return
	const shown = declared.map(([name, entry], index) => [name, entry, rights[index]]).filter(([, , { allowed }]) => allowed)
	const simulate = 'simulate' in commands && await may('simulate')
	list('hardware', shown.filter(([, entry]) => entry.value).map(([name, entry, { verbs }]) => hardware(name, entry, verbs?.set !== false, simulate)))
	list('events', shown.filter(([, entry]) => entry.event).map(([name, entry]) => event(name, entry, simulate)))
	list('schedules', shown.filter(([, entry]) => entry.schedule).map(([name, entry, { verbs }]) => schedule(name, entry, verbs?.run)))
}

whenConnected(show)
listen('commands', soon(show, 300))
