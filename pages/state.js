// SPDX-License-Identifier: Apache-2.0
// The daemon's state: who is connected and their rights, handlers, values, what plays and records, the doctor's report.
import './declared.js'
import { $, clock, device, listen, logOut, make, nameOf, onPress, placeOf, session, soon, tell, whenConnected } from './page.js'

const { call } = device

/** The items of the list, or one item that says that there are none. */
function list(id, items, none) {
	$(id).replaceChildren(...(items.length ? items : [make('li', { class: 'empty' }, none)]))
}

const item = (what, facts, ...more) => make('li', {}, make('div', {}, what, facts ? make('small', {}, facts) : undefined), ...more)

const connection = ({ for: caller, program, count }) => item(callerName(caller), [program, count > 1 && `${count} connections`].filter(Boolean).join(' · '))

/** The name of a caller, whatever form the daemon uses for it. */
function callerName(caller) {
	if (!caller || typeof caller !== 'object') return caller ? String(caller) : ''
	return caller.gateway ? `${caller.gateway}:${caller.user}` : caller.user || `uid ${caller.uid}`
}

// Who

session.then(async person => {
	const hello = await call('hello').catch(() => ({}))
	const simulated = hello.simulated && hello.simulated.length ? 'Simulated: ' + hello.simulated.join(', ') : 'Nothing is simulated.'
	$('who').replaceChildren(
		make('p', {}, 'You are ', make('b', {}, person ? nameOf(person) : 'a program'), person?.groups?.length ? `, in ${person.groups.join(', ')}.` : '.'),
		make('p', { class: 'quiet' }, `${hello.program || 'quickconnectd'} ${hello.version || ''}, protocol ${hello.protocol || 1}. ${simulated}`),
		...(person?.expires ? [make('p', { class: 'quiet' }, 'Logged in until ' + new Date(person.expires * 1000).toLocaleString())] : []),
		...(person ? [make('button', { type: 'button', onclick: logOut }, 'Log out')] : []))
})

// What goes on

const verbs = { playing: 'Plays', recording: 'Records', vibrating: 'Vibrates', locating: 'Asks for the position', measuring: 'Measures motion', browsing: 'Looks around' }

function doing(kind, each) {
	const { file, name, event, seconds, position, duration, state, caller, owner } = each
	const what = file || name || event || (typeof each === 'string' ? each : '')
	const time = position ?? seconds
	const facts = [state !== kind && state, time !== undefined && clock(time) + (duration ? ' of ' + clock(duration) : ''), callerName(caller ?? owner ?? each.for)]
	return item(`${verbs[kind]} ${what}`, facts.filter(Boolean).join(' · '))
}

async function showState() {
	const state = await call('state').catch(error => void tell(placeOf($('now')), error))
	if (!state) return
	placeOf($('now')).replaceChildren()
	const going = Object.keys(verbs).flatMap(kind => (state[kind] || []).map(each => doing(kind, each)))
	if (state.watched.length) going.push(item('Events that somebody hears', state.watched.map(each => each.event || each).join(', ')))
	list('now', going, 'All is quiet.')
	list('handlers', state.handlers.map(({ name, for: owner, program }) => item(name, [callerName(owner), program].filter(Boolean).join(', by '))), 'Nobody answers calls.')
	list('connected', state.connections.map(connection), 'Nobody.')
	showValues(state.values)
}

function showValues(values) {
	const names = Object.keys(values)
	// A field that somebody is typing in stays.
	if ($('values').contains(document.activeElement) && names.length === $('values').querySelectorAll('input').length) {
		return names.forEach(name => showValue(name, values[name]))
	}
	list('values', names.map(name => {
		const field = make('input', { id: 'value-' + name, 'aria-label': name, size: 8, autocomplete: 'off' })
		const set = make('button', { type: 'button', 'aria-label': 'Set ' + name }, 'Set')
		onPress(set, async () => { showValue(name, await call(name, parsed(field.value)), true) })
		field.addEventListener('keydown', event => { if (event.key === 'Enter') set.click() })
		return item(name, '', field, set)
	}), 'This device has none.')
	names.forEach(name => {
		showValue(name, values[name])
		watch(name)
	})
}

const watched = new Set()

function watch(name) {
	if (watched.has(name)) return
	watched.add(name)
	listen(name, value => showValue(name, value))
}

function showValue(name, value, isOwn) {
	const field = $('value-' + name)
	if (field && (isOwn || document.activeElement !== field)) field.value = typeof value === 'string' ? value : JSON.stringify(value)
}

function parsed(text) {
	try {
		return JSON.parse(text)
	} catch {
		return text
	}
}

// The doctor

async function showDoctor() {
	const { ok, findings } = await call('doctor')
	$('verdict').textContent = ok ? 'No problems found.' : 'Problems found. The table says how to fix each.'
	const fine = findings.filter(({ state }) => state === 'ok'), wrong = findings.filter(({ state }) => state !== 'ok')
	$('findings').replaceChildren(...wrong.map(finding))
	$('findings').parentNode.hidden = !wrong.length
	$('fine').replaceChildren(...fine.map(finding))
	$('fine-title').textContent = `${fine.length} in order`
	$('fine-title').parentNode.hidden = !fine.length
}

const finding = ({ subject, state, says, tried, fix, inspect }) => make('tr', {},
	make('td', {}, subject), make('td', {}, make('span', { class: 'state ' + state }, state)),
	make('td', {}, says, fix ? make('p', {}, 'Fix: ', make('code', {}, fix)) : undefined,
		inspect ? make('p', {}, 'See: ', make('code', {}, inspect)) : undefined,
		state === 'error' && tried.length ? make('small', {}, 'Tried: ' + tried.join(', ')) : undefined))

// Commands

async function showCommands() {
	const commands = await call('commands').catch(error => void tell(placeOf($('commands')), error))
	if (!commands) return
	const rows = await Promise.all(Object.entries(commands).map(async ([name, { help }]) => {
		const [rank, may] = mayOf(await call('can', name).catch(() => ({})))
		return [rank, make('tr', { 'data-name': name }, make('td', {}, make('code', {}, name)), make('td', {}, may), make('td', {}, help || ''))]
	}))
	const denied = rows.filter(([rank]) => rank === 0).length
	$('may').textContent = `${rows.length}, of which you may call ${denied ? rows.length - denied : 'all'}`
	// What is denied comes first: that is what one looks for.
	$('commands').replaceChildren(...rows.sort(([one], [other]) => one - other).map(([, row]) => row))
	find()
}

function mayOf({ allowed, verbs, rule, message }) {
	if (allowed === undefined) return [2, '–']
	const not = Object.entries(verbs || {}).filter(([, may]) => !may).map(([verb]) => verb)
	const text = !allowed ? 'no' : not.length ? 'yes, but not ' + not.join(', ') : 'yes'
	return [!allowed ? 0 : not.length ? 1 : 2, make('span', { class: 'state ' + (allowed ? 'ok' : 'error'), title: allowed ? '' : rule || message || '' }, text)]
}

function find() {
	const wanted = $('find').value.toLowerCase()
	for (const row of $('commands').rows) row.hidden = !row.textContent.toLowerCase().includes(wanted)
}

$('find').addEventListener('input', find)
onPress($('refresh'), showState)
onPress($('stop'), async () => {
	await call('stop')
	await showState()
})
onPress($('doctor'), showDoctor)
const again = soon(showState, 300)
for (const event of ['playState', 'recState', 'handlers']) listen(event, again)
listen('commands', soon(showCommands, 300))
whenConnected(() => {
	showState()
	showCommands()
	showDoctor().catch(error => tell(placeOf($('doctor')), error))
})
