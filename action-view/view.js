// SPDX-License-Identifier: Apache-2.0
// The view of an action: the editor if the action has `finalize`, or else the text that it returned. The window
// and the browser extension show the same view; `host` talks to whichever of them it is.
import { $, make, placeOf, tell } from './elements.js'
import { makeEditor } from './editor.js'

const run = new URLSearchParams(location.search).get('run')

/** Asks the program that shows this; throws {code, message, line?, column?, source?}. */
async function host(verb, more) {
	const message = { verb, run, ...more }
	const window = globalThis.webkit?.messageHandlers?.quickconnectView
	const answer = window
		? JSON.parse(await window.postMessage(JSON.stringify(message)))
		: await (globalThis.browser ?? chrome).runtime.sendMessage(message)
	if (answer?.error) throw answer.error
	return answer?.value
}

const resultsKey = 'NSExtensionJavaScriptPreprocessingResultsKey'
const argumentKey = 'NSExtensionJavaScriptFinalizeArgumentKey'
const says = placeOf($('editor'))
// A longer text would keep a page busy for minutes, and its reader for days.
const mostCharacters = 500_000
let editor, isOver = false, isBusy = false

async function show() {
	const { action, view, dictionary, scripts } = await host('open')
	// A page may report anything about itself.
	const told = name => typeof dictionary[resultsKey][name] === 'string' ? dictionary[resultsKey][name] : ''
	const title = told('title').slice(0, 500), address = told('URL').slice(0, 2000), text = told('text')
	document.title = $('title').textContent = title || address || action
	$('title').title = `${action}: ${address}`
	const isText = view === 'text'
	editor = await makeEditor($('editor'), { label: isText ? 'The text' : 'JavaScript for this page', readOnly: isText, isPlain: true })
	if (isText) {
		editor.value = text.slice(0, mostCharacters)
		if (text.length > mostCharacters) says.replaceChildren(`The text has ${text.length} characters. These are the first ${mostCharacters}.`)
		$('cancel').hidden = true
	} else {
		showScripts(scripts)
		editor.value = scripts.last
		editor.onInput = () => says.replaceChildren()
	}
	$('scripts').hidden = isText
	$('done').addEventListener('click', () => isText ? leave('cancel') : done())
	$('cancel').addEventListener('click', () => leave('cancel'))
	editor.focus()
	await host('shown')
}

/** Gives `finalize` the typed text. */
async function done() {
	if (isBusy || isOver) return
	isBusy = true
	says.replaceChildren()
	$('done').setAttribute('aria-busy', 'true')
	try {
		await host('done', { [argumentKey]: { customJavaScript: editor.value } })
		close()
	} catch (error) {
		tell(says, { ...error, message: place(error) + error.message }, sentence(error))
		if (error.line && error.source !== 'Action.js') editor.mark(error.line, error.column)
		editor.focus()
	} finally {
		isBusy = false
		$('done')?.removeAttribute('aria-busy')
	}
}

function sentence({ code, source }) {
	if (code === 'cancelled') return 'Nothing was run.'
	if (source) return source === 'Action.js' ? 'The action has a mistake.' : 'The script has a mistake.'
}

const place = ({ source, line }) => line ? `${source === 'Action.js' ? 'Action.js, line' : 'Line'} ${line}: ` : ''

async function leave(verb) {
	const text = editor.value
	isOver = true
	await host(verb, { text })
	close()
}

// The window hides this view, and loads it again for the next action.
function close() {
	isOver = true
	document.body.replaceChildren()
}

// Scripts saved for this site

function showScripts({ saved }, chosen = '') {
	const choice = $('saved')
	choice.replaceChildren(make('option', { value: '' }, saved.length ? 'Saved scripts' : 'No saved scripts'))
	choice.append(...saved.map(({ name }) => make('option', { value: name }, name)))
	choice.value = chosen
	choice.onchange = () => {
		const script = saved.find(({ name }) => name === choice.value)
		$('remove').hidden = !script
		if (!script) return
		editor.value = script.text
		says.replaceChildren()
		editor.focus()
	}
	$('remove').hidden = !chosen
}

async function keep(name, text) {
	try {
		showScripts(await host('save', { name, text }), text && name)
	} catch (error) {
		tell(says, error)
	}
}

$('save').addEventListener('click', () => {
	$('name').value = $('saved').value
	$('naming').returnValue = ''
	$('naming').showModal()
})
$('naming').addEventListener('close', () => {
	if ($('naming').returnValue === 'save') keep($('name').value.trim(), editor.value)
})
$('remove').addEventListener('click', () => keep($('saved').value, ''))

// Escape means Cancel; Control and Enter together mean Done. A key that nothing handles goes back to the window, where it
// would get in the way of the next key.
document.addEventListener('keydown', event => {
	const isDone = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
	if (isOver || $('naming').open || !isDone && event.key !== 'Escape') return
	event.preventDefault()
	const button = isDone || $('cancel').hidden ? $('done') : $('cancel')
	button.click()
})

show().catch(error => tell(says, error))
