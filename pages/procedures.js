// SPDX-License-Identifier: Apache-2.0
// Stored procedures: which exist, the answer of one as a table or a plot, and what is recorded for them.
import { $, bytes, device, listen, make, may, onPress, placeOf, soon, tell, whenConnected } from './page.js'
import { makeEditor } from './editor.js'
import { drawPlot, seriesOf } from './plot.js'

const { call } = device
const maxRows = 1000, maxColumns = 50, maxText = 10000
const code = makeEditor($('code'), { label: 'The code of the procedure', readOnly: true })
let chosen

// The list of procedures

async function showList() {
	try {
		const { procedures, problems, recording } = await call('procedures', 'list')
		showClosed()
		placeOf($('procedures')).replaceChildren()
		showProcedures(procedures)
		$('problems').replaceChildren(...problems.map(problem => make('li', {}, problem)))
		await showRecording(recording)
	} catch (error) {
		if (error.code === 'denied') showClosed(error)
		else if (error.code === 'unavailable') tell(placeOf($('procedures')), { code: 'unavailable', message: 'The service of procedures does not run: systemctl status quickconnect-data' })
		else tell(placeOf($('procedures')), error)
	}
}

const places = { configuration: 'the owner’s', fetched: 'fetched', shipped: 'shipped' }

function showProcedures(procedures) {
	const focused = document.activeElement?.dataset.name
	$('procedures').replaceChildren(...procedures.map(({ name, from }) => {
		const button = make('button', { type: 'button', 'data-name': name, 'aria-pressed': String(name === chosen) }, make('span', {}, name), make('small', {}, places[from] || from))
		onPress(button, () => choose(name))
		return button
	}))
	if (!procedures.length) $('procedures').append(make('p', { class: 'empty' }, 'There are none.'))
	if (focused) $('procedures').querySelector(`[data-name="${focused}"]`)?.focus()
	if (chosen === undefined && procedures.length) choose(procedures[0].name).catch(error => tell(placeOf($('procedures')), error))
}

// The owner decides what results may say about people, so as shipped no page may call procedures.
function showClosed(error) {
	$('closed').hidden = !error
	$('open').hidden = Boolean(error)
	if (!error) return
	const { rule, location, allow } = error
	const isMapping = allow && !/^the commands of the socket/.test(rule || '')
	const [why, how, line, then] = isMapping
		? [`Procedures are for ${rule} on this device.`, ['The owner lets you in with this line in the last file of the mappings folder, and the same for execute. The rule is now in ', make('code', {}, location), ':'], allow, 'sudo quickconnect call reload']
		: ['A procedure computes with what this device has recorded. Whether pages may see that is for its owner to decide; until then they may not.',
			['The owner lets pages run procedures with two more names in the list of their socket, in ', make('code', {}, location || '/etc/quickconnect/quickconnectd.yaml'), ':'], 'commands: [execute, procedures, …]', 'sudo systemctl restart quickconnectd']
	$('closed-why').replaceChildren(make('p', {}, why), make('p', {}, ...how), make('pre', {}, line), make('p', {}, 'It holds after ', make('code', {}, then), '.'))
}

// What is recorded

async function showRecording({ events, saved, waiting, problem }) {
	// Only those who may call «data» see how many entries of each kind there are.
	const kept = await may('data') ? await call('data', 'info').catch(() => undefined) : undefined
	const count = name => kept?.kinds.find(({ kind }) => kind === name)
	const others = (kept?.kinds || []).filter(({ kind }) => !events.includes(kind))
	const items = [...events.map(name => [name, count(name)]), ...others.map(each => [each.kind, each])]
	$('events').replaceChildren(...items.map(([name, known]) => make('li', {}, make('div', {}, name, known && make('small', {}, spanOf(known))))))
	if (!items.length) $('events').append(make('li', { class: 'empty' }, 'Nothing. The setting «record» names what is.'))
	const since = `${entries(saved)} saved since the service began${waiting ? `, ${waiting} on their way` : ''}.`
	$('amount').textContent = kept ? `${entries(kept.entries)} in all, ${bytes(kept.bytes)}; ${since}` : events.length ? since : ''
	if (problem) tell(placeOf($('events')), { code: 'unavailable', message: `Nothing is recorded now: ${problem}` })
	else placeOf($('events')).replaceChildren()
}

const entries = count => `${count.toLocaleString('en')} ${count === 1 ? 'entry' : 'entries'}`
const spanOf = ({ entries: count, oldest, newest }) => `${entries(count)}, ${oldest?.slice(0, 10)} to ${newest?.slice(0, 10)}`

// One procedure

async function choose(name) {
	const { text, file } = await call('procedures', 'show', name)
	if (name !== chosen) clearAnswer()
	const isOther = name !== chosen
	// Nobody would see its answer any more.
	if (isOther) stop().catch(() => {})
	chosen = name
	for (const button of $('procedures').querySelectorAll('button')) button.setAttribute('aria-pressed', String(button.dataset.name === name))
	$('run-title').textContent = name
	$('about').textContent = aboutOf(text)
	$('file').textContent = file
	;(await code).value = text
	if (isOther || namesOf(text).join() !== names.join()) showFields(namesOf(text))
	$('run').hidden = false
}

/** The text of the comment at the beginning of a file. */
function aboutOf(text) {
	const lines = []
	for (const line of text.split('\n')) {
		if (!line.startsWith('//')) break
		lines.push(line.slice(2).trim())
	}
	return lines.join(' ')
}

let names = []
const anything = ['all arguments, as a JSON list']

/** The names of its arguments, from its comment or its function; a ? marks those that may be left out. */
function namesOf(text) {
	for (const [, list] of text.matchAll(/\bexecute\s*\(([^()]*)\)/g)) {
		const each = list.split(',').map(name => name.replace(/=.*/, '?').replace(/\s/g, '')).filter(Boolean)
		if (!each.every(name => /^[\w$]+\??$/.test(name))) continue
		return /^(callback|cb|done|c)$/i.test(each.at(-1)) ? each.slice(0, -1) : each
	}
	return anything
}

function showFields(all) {
	names = all
	const fields = all.map((name, index) => make('label', { class: 'grow' }, name,
		make('input', { id: 'argument-' + index, value: presumed(name, all), placeholder: all === anything ? '[]' : undefined, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' })))
	$('arguments').replaceChildren(...fields)
	$('hint').hidden = !all.some(name => /^(start|end|day|date|from|to)\??$/i.test(name))
}

/** The last seven days, if two dates are asked for. */
function presumed(name, all) {
	const [first, last] = ['start', 'end'].every(each => all.includes(each)) ? ['start', 'end'] : ['from', 'to']
	if (!all.includes(first) || !all.includes(last)) return undefined
	const date = days => new Date(Date.now() + days * 864e5).toISOString().slice(0, 10)
	return name === first ? date(-6) : name === last ? date(1) : undefined
}

function given() {
	const texts = names.map((_, index) => $('argument-' + index).value.trim())
	if (names === anything) {
		const list = parsed(texts[0] || '[]')
		if (!Array.isArray(list)) throw { code: 'invalid', message: 'The arguments are not a JSON list: write ["2026-11-21", 2].' }
		return list
	}
	// The callback follows the arguments: required arguments keep their places.
	while (texts.at(-1) === '' && names[texts.length - 1].endsWith('?')) texts.pop()
	return texts.map(text => text === '' ? null : parsed(text))
}

function parsed(text) {
	try {
		return JSON.parse(text)
	} catch {
		return text
	}
}

// Its answer

let run = 0, underWay

/** Cancels the procedure that is running, if there is one. */
const stop = () => underWay ? call('cancel', underWay.id) : Promise.resolve()
onPress($('stop'), stop)

function showStop(answer) {
	underWay = answer
	if (!answer && document.activeElement === $('stop')) $('go').focus()
	$('stop').hidden = !answer
}

onPress($('go'), async () => {
	const own = run += 1, name = chosen
	const values = given()
	clearAnswer()
	$('answered').textContent = 'It computes …'
	const answer = call('execute', name, ...values)
	showStop(answer)
	try {
		const value = await answer
		if (own === run && name === chosen) showAnswer(value)
	} catch (error) {
		if (own !== run || name !== chosen) return
		clearAnswer()
		if (error.code === 'cancelled') $('answered').textContent = 'It was stopped.'
		if (error.code === 'scriptFailed' && error.line) {
			if (error.file === $('file').textContent) (await code).mark(error.line, error.column)
			throw { code: 'scriptFailed', message: `Line ${error.line} of ${error.file}: ${error.message}` }
		}
		throw error
	} finally {
		if (underWay === answer) showStop()
	}
})
$('run').addEventListener('submit', event => event.preventDefault())

function clearAnswer() {
	placeOf($('answered')).replaceChildren()
	$('answered').textContent = ''
	$('figure').hidden = $('table-part').hidden = true
}

function showAnswer(answer) {
	const rows = rowsOf(answer), series = seriesOf(answer)
	$('answered').textContent = rows ? `The answer has ${rows.rows.length.toLocaleString('en')} ${rows.rows.length === 1 ? 'row' : 'rows'}.` : `The answer: ${textOf(answer)}`
	if (series) {
		$('figure').hidden = false
		drawPlot($('plot'), $('legend'), series, chosen)
		$('plot').setAttribute('aria-label', `${$('plot').getAttribute('aria-label')} The table has the numbers.`)
	}
	if (!rows || !rows.rows.length) return
	$('table-part').hidden = false
	// Next to a plot, the table is for those who want the numbers, and for screen readers.
	$('table-part').open = !series
	$('table').tHead.replaceChildren(make('tr', {}, ...rows.columns.slice(0, maxColumns).map(name => make('th', { scope: 'col' }, name))))
	$('table').tBodies[0].replaceChildren(...rows.rows.slice(0, maxRows).map(cells => make('tr', {}, ...cells.slice(0, maxColumns).map((cell, index) => {
		const isNumber = typeof cell === 'number'
		return make('td', { class: isNumber && 'number', 'data-name': rows.columns[index] }, cell === undefined ? '' : textOf(cell))
	}))))
	const cuts = [rows.rows.length > maxRows && `${maxRows.toLocaleString('en')} rows`, rows.columns.length > maxColumns && `${maxColumns} columns`].filter(Boolean)
	$('cut').textContent = cuts.length ? `These are the first ${cuts.join(' and ')}.` : ''
}

function textOf(value) {
	const text = typeof value === 'string' ? value : JSON.stringify(value)
	return text.length > maxText ? text.slice(0, maxText) + ' …' : text
}

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** {columns, rows} if the answer can be shown as a table; undefined for a single value. */
function rowsOf(answer) {
	if (isObject(answer)) return { columns: ['Name', 'Value'], rows: Object.entries(answer) }
	if (!Array.isArray(answer)) return undefined
	if (answer.length && answer.every(isObject)) {
		const columns = [...new Set(answer.flatMap(Object.keys))]
		return { columns, rows: answer.map(each => columns.map(name => each[name])) }
	}
	if (answer.length && answer.every(Array.isArray)) {
		const most = answer.reduce((most, each) => Math.max(most, each.length), 0)
		return { columns: Array.from({ length: most }, (_, index) => String(index + 1)), rows: answer }
	}
	return { columns: ['Number', 'Value'], rows: answer.map((each, index) => [index + 1, each]) }
}

onPress($('refresh'), async () => {
	await showList()
	if (chosen !== undefined) await choose(chosen)
})
const again = soon(showList, 300)
listen('handlers', again)
may('data').then(allowed => allowed && listen('dataState', again))
whenConnected(showList)
