// SPDX-License-Identifier: Apache-2.0
// Elements of a page, and how errors are shown in them. It has no other needs, so views outside the pages use it, too.
export const $ = id => document.getElementById(id)

/** An element: `make('li', { class: 'x', onclick: f }, 'text', child)`. */
export function make(name, properties = {}, ...children) {
	const element = document.createElement(name)
	for (const [key, value] of Object.entries(properties)) {
		if (key.startsWith('on')) element.addEventListener(key.slice(2), value)
		else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? '' : value)
	}
	element.append(...children.filter(child => child !== undefined && child !== null))
	return element
}

export function makeSVG(name, properties = {}) {
	const element = document.createElementNS('http://www.w3.org/2000/svg', name)
	for (const [key, value] of Object.entries(properties)) element.setAttribute(key, value)
	return element
}

const sentences = {
	denied: 'You may not do this here.',
	unavailable: 'This does not work at the moment.',
	unsupported: 'This device cannot do that.',
	notFound: 'That is not there.',
	busy: 'Somebody else is using it.',
	timeout: 'It took too long, and was given up.',
	cancelled: 'It was stopped.',
	invalid: 'The device did not understand what it was given.',
	tooLarge: 'That is too large for the device.',
	overloaded: 'The device has too much to do.',
	connectionLost: 'The connection to the device was lost. Whether it was done is not known.',
	scriptFailed: 'A script on the device made a mistake.',
	unknownCommand: 'This device does not know that command.',
}

/** Shows an error in place, in plain words first: the words for its code, or `sentence`. */
export function tell(place, error, sentence = sentences[error.code] || 'Something went wrong.') {
	const known = error.message && error.message !== sentence ? [make('small', {}, error.message)] : []
	place.replaceChildren(make('b', {}, sentence), ...known)
	if (list.test(error.message)) mergeLists()
}

// The list of a gateway's commands that a line tells to write: what one line adds, the others keep.
const list = /(«commands: \[)([^\]…]*)(\]»)/

/** Puts what each error on the page adds to the list of a gateway's commands into all of them, so that following one after the other loses nothing. */
export function mergeLists() {
	const shown = [...document.querySelectorAll('.says small, #quickconnect-refused p')]
	const names = new Set(shown.flatMap(({ textContent }) => list.exec(textContent)?.[2].split(', ') ?? []))
	for (const each of shown) {
		each.textContent = each.textContent.replace(list, (_, begin, old, end) => begin + [...names].sort().join(', ') + end)
	}
}

/** Where errors of an element are shown: in its card. */
export function placeOf(element) {
	return element.closest('.card, dialog, main').querySelector('.says')
}
