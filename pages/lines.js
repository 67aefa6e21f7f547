// SPDX-License-Identifier: Apache-2.0
// The line that does what a button does, to copy: for a shell, for a script or a page, and for a program that speaks HTTP.
import { $, calls, make, soon } from './page.js'

const isText = value => typeof value === 'string'

function isJSON(text) {
	try {
		JSON.parse(text)
		return true
	} catch {
		return false
	}
}

const shell = text => /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
const literal = value => isText(value) && !/['\\\p{Cc}]/u.test(value) ? `'${value}'` : JSON.stringify(value)

/** Forms of a call, and of hearing an event: each takes the name, and what a call is sent. */
const forms = {
	// An argument that is JSON stays JSON, any other becomes a string.
	shell: {
		call: (name, ...sent) => ['quickconnect call', name, ...sent.map(each => shell(isText(each) && !isJSON(each) ? each : JSON.stringify(each)))].join(' '),
		on: name => `quickconnect events ${name}`,
	},
	script: {
		call: (...all) => `quickconnect.call(${all.map(literal).join(', ')})`,
		on: name => `quickconnect.on(${literal(name)}, value => console.log(value))`,
	},
	curl: {
		call(name, ...sent) {
			const message = sent.length ? '&msg=' + encodeURIComponent(JSON.stringify(sent.length > 1 ? sent : sent[0])).replaceAll("'", '%27') : ''
			return `curl -X POST -H "Authorization: Bearer $TOKEN" '${new URL('call', import.meta.url)}?cmd=${encodeURIComponent(name)}${message}'`
		},
	},
}

/** `['playSound', 0]` is a call, `'location'` an event; undefined where the form has none. */
const line = (form, what) => isText(what) ? forms[form].on?.(what) : forms[form].call(...what)

const nameOf = element => element.dataset.line || element.getAttribute('aria-label') || element.labels?.[0]?.textContent.trim() || element.textContent.trim()

// A browser gives the clipboard only to pages that are safe from others: else the line is selected.
async function copy(button, code) {
	const isCopied = await navigator.clipboard?.writeText(code.textContent).then(() => true, () => false)
	if (!isCopied) getSelection().selectAllChildren(code)
	button.textContent = isCopied ? 'Copied' : 'Selected'
}

function row(element, text) {
	const code = make('code', {}, text), name = nameOf(element)
	const button = make('button', { type: 'button', class: 'plain', 'aria-label': 'Copy the line of ' + name }, 'Copy')
	button.addEventListener('click', () => copy(button, code))
	return make('li', {}, make('div', {}, make('small', {}, name), code), button)
}

/** Shows the lines of each card in the form that `select` has; in none where it is empty. */
export function showLines(select, cards) {
	const shown = new Map([...cards].map(card => [card, make('ul', { class: 'files lines', 'aria-label': 'Lines' })]))
	const show = () => {
		$('lines-token').hidden = select.value !== 'curl'
		for (const [card, list] of shown) {
			const found = select.value ? [...card.querySelectorAll('button, input')].filter(each => calls.has(each)) : []
			const texts = found.map(each => [each, line(select.value, calls.get(each)())]).filter(([, text]) => text)
			const all = JSON.stringify(texts.map(([each, text]) => [nameOf(each), text]))
			if (list.dataset.all !== all) list.replaceChildren(...texts.map(each => row(...each)))
			list.dataset.all = all
			if (texts.length && !list.isConnected) card.append(list)
			if (!texts.length) list.remove()
		}
	}
	const again = soon(show, 100)
	select.addEventListener('change', show)
	for (const card of cards) {
		card.addEventListener('input', again)
		new MutationObserver(changes => changes.some(({ target }) => !shown.get(card).contains(target)) && again()).observe(card, { childList: true, subtree: true })
	}
}
