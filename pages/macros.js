// SPDX-License-Identifier: Apache-2.0
// Macros: buttons that run them, the rings that they move, and an editor that saves when you choose another macro.
import { $, device, listen, make, onPress, placeOf, soon, tell, whenConnected } from './page.js'
import { makeEditing, makeEditor } from './editor.js'

const { call } = device
const rings = { inner: 'innerProgress', middle: 'middleProgress', outer: 'outerProgress' }

// The rings: one turn is 1, and the number shows the turns.

function showRing(name, value) {
	const part = value > 0 && value % 1 === 0 ? 1 : value % 1
	$(name + '-ring').setAttribute('stroke-dasharray', `${(part * 100).toFixed(2)} 100`)
	$(name + '-ring').setAttribute('visibility', value > 0 ? 'visible' : 'hidden')
	$(name).textContent = value.toFixed(2)
}

async function showRings() {
	for (const [name, value] of Object.entries(rings)) {
		await call(value).then(number => showRing(name, number), error => tell(placeOf($(name)), error))
	}
}

for (const [name, value] of Object.entries(rings)) listen(value, number => showRing(name, number), undefined, placeOf($(name)))
onPress($('reset'), () => Promise.all(Object.values(rings).map(value => call(value, 0))))

// Running

let macros = [], lastRun

async function showMacros() {
	const answer = await call('macro', 'list').catch(error => void tell(placeOf($('macros')), error))
	if (!answer) return
	macros = answer.macros
	$('macros').replaceChildren(...macros.map(({ name, error }) => {
		const button = make('button', { type: 'button', title: error && 'It has a mistake.' }, name)
		onPress(button, () => run(name))
		return button
	}))
	if (!macros.length) $('macros').append(make('p', { class: 'empty' }, 'There are no macros yet.'))
	for (const id of ['selector', 'history-of', 'trace-of']) {
		const chosen = $(id).value
		$(id).replaceChildren(...macros.map(({ name }) => make('option', { value: name }, name)))
		if (macros.some(({ name }) => name === chosen)) $(id).value = chosen
	}
	if (editing.name) $('selector').value = editing.name
	else if (macros.length && !$('pane-edit').hidden) edit($('selector').value)
}

async function run(name) {
	lastRun = name
	$('answer').textContent = ''
	const code = showCode(name)
	try {
		const value = await call('macro', 'run', name)
		if (value !== null) $('answer').textContent = `${name} answers ${JSON.stringify(value)}`
	} catch (error) {
		await code
		if (error.code !== 'scriptFailed' && error.line === undefined) throw error
		showMistake(name, error)
	}
}

const code = makeEditor($('code'), { label: 'The code of the macro that ran last', readOnly: true })

async function showCode(name) {
	const { text } = await call('macro', 'show', name)
	if (lastRun !== name) return
	$('code-name').textContent = name
	;(await code).value = text
	if ($('pane-edit').hidden) choose('code')
}

// A mistake, with its line

let mistaken

async function showMistake(name, { message, line, column, source }) {
	mistaken = { name, line, column }
	$('mistake-message').textContent = `${name}${line ? `, line ${line}` : ''}: ${message}`
	$('mistake-line').hidden = !source
	// The column counts from 1, and the caret is below it.
	$('mistake-line').textContent = source ? `${source}\n${' '.repeat(Math.max(0, (column || 1) - 1))}^` : ''
	if (lastRun === name && line) (await code).mark(line, column)
	if (!$('mistake').open) $('mistake').showModal()
}

$('mistake').addEventListener('close', async () => {
	if ($('mistake').returnValue !== 'edit' || !mistaken) return
	const { name, line, column } = mistaken
	choose('edit')
	if (editing.name !== name && !await edit(name)) return
	const each = await editor
	each.mark(line, column)
	each.focus()
})

// Tabs

const tabs = ['code', 'edit', 'history', 'trace']

function choose(tab, hasFocus) {
	for (const each of tabs) {
		$('pane-' + each).hidden = each !== tab
		$('tab-' + each).setAttribute('aria-selected', each === tab)
		$('tab-' + each).tabIndex = each === tab ? 0 : -1
	}
	if (hasFocus) $('tab-' + tab).focus()
	if (tab === 'edit' && !editing.name && $('selector').value) edit($('selector').value)
	if (tab === 'history') showHistory()
}

for (const tab of tabs) {
	$('tab-' + tab).addEventListener('click', () => choose(tab))
	$('tab-' + tab).addEventListener('keydown', event => {
		const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
		if (step) choose(tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length], true)
	})
}

// Editing

const editor = makeEditor($('editor'), { label: 'The text of the macro' })
const editing = makeEditing({
	editor, selector: $('selector'), status: $('saved'),
	load: name => call('macro', 'show', name),
	save: (name, text, base) => call('macro', 'save', name, text, { base }),
	refused: (error, name) => refuse(error, name),
})
const { edit, save } = editing

async function refuse(error, name) {
	const says = placeOf($('editor'))
	if (error.code === 'busy' && error.version !== undefined) {
		tell(says, { code: 'busy', message: `Somebody has saved version ${error.version} meanwhile; this text came from ${error.base}. Copy what you want to keep, then Discard.` })
	} else if (error.line) {
		(await editor).mark(error.line, error.column)
		showMistake(name, error)
	} else {
		tell(says, error)
	}
}

onPress($('save'), save)
onPress($('try'), async () => { if (await save() && editing.name) await run(editing.name) })
onPress($('check'), async () => {
	if (!editing.name) return
	try {
		await call('macro', 'check', editing.name, (await editor).value)
		$('saved').textContent = 'No mistake is found.'
	} catch (error) {
		await refuse(error, editing.name)
	}
})
onPress($('discard'), () => editing.discard(macros.map(({ name }) => name)))

$('new').addEventListener('click', () => {
	$('name').value = ''
	$('naming').returnValue = ''
	$('naming').showModal()
})
$('naming').addEventListener('close', async () => {
	const name = $('name').value
	if ($('naming').returnValue !== 'make') return
	if (macros.some(each => each.name === name)) await edit(name)
	else await editing.begin(name, 'function() {\n    \n}\n')
})

// History

const old = makeEditor($('old'), { label: 'The text of an older version', readOnly: true })

async function showHistory() {
	const name = $('history-of').value
	if (!name) return
	$('old').hidden = true
	const versions = await call('macro', 'history', name).catch(error => void tell(placeOf($('versions')), error))
	if (!versions) return
	$('versions').replaceChildren(...versions.map((each, index) => version(name, each, index === 0)))
	if (!versions.length) $('versions').append(make('li', { class: 'empty' }, 'It was never changed.'))
}

function version(name, { version, time, caller, reverted, text }, isNewest) {
	const who = caller && (caller.user || caller.gateway)
	const facts = [new Date(time).toLocaleString(), who, reverted && `as version ${reverted} was`].filter(Boolean).join(' · ')
	const see = make('button', { type: 'button', class: 'plain', 'aria-label': `Show version ${version}` }, 'Show')
	onPress(see, async () => {
		$('old').hidden = false
		;(await old).value = text
	})
	const back = make('button', { type: 'button', class: 'plain', 'aria-label': `Revert to version ${version}` }, 'Revert')
	onPress(back, async () => {
		await call('macro', 'revert', name, version)
		editing.forget(name)
		await showHistory()
	})
	return make('li', {}, make('div', {}, `Version ${version}`, make('small', {}, facts)), make('div', { class: 'row' }, see, isNewest ? undefined : back))
}

$('history-of').addEventListener('change', showHistory)

// Trace

onPress($('trace'), async () => {
	const name = $('trace-of').value, given = $('parameters').value.trim() || '[]'
	let parameters
	try {
		parameters = JSON.parse(given)
	} catch {
		throw { code: 'invalid', message: 'The arguments are not JSON: write [1, "two"].' }
	}
	$('calls').hidden = true
	try {
		const { value, calls } = await call('macro', 'trace', name, ...[parameters].flat())
		$('traced').textContent = `It answers ${JSON.stringify(value)} after ${calls.length} ${calls.length === 1 ? 'call' : 'calls'}.`
		$('calls').hidden = !calls.length
		$('calls').tBodies[0].replaceChildren(...calls.map(row))
	} catch (error) {
		if (error.code !== 'scriptFailed') throw error
		showMistake(name, error)
	}
})

function row({ command, arguments: given, result, error, milliseconds }) {
	const answer = error ? `${error.code}: ${error.message}` : result === undefined ? 'none yet' : JSON.stringify(result)
	const took = milliseconds === undefined ? '' : milliseconds.toFixed(1) + ' ms'
	return make('tr', {}, make('td', {}, make('code', {}, command)), make('td', {}, make('code', {}, JSON.stringify(given ?? []))), make('td', {}, answer), make('td', { class: 'number' }, took))
}

// A mistake in a macro, also if something other than this page ran it.
listen('macroError', error => {
	if (error.globalsLost) tell(placeOf($('macros')), { code: 'scriptFailed', message: `${error.macro}: ${error.message}. The macros began anew; their globals are lost.` })
	else if (error.macro !== lastRun) tell(placeOf($('macros')), { code: 'scriptFailed', message: `${error.macro}: ${error.message}` })
})
const again = soon(showMacros, 200)
listen('handlers', again)
listen('commands', again)
whenConnected(() => {
	showRings()
	showMacros()
})
