// SPDX-License-Identifier: Apache-2.0
// Runs in the world «quickconnect», which has the window's message handler and no scripts of pages. It passes messages
// between the page's own world and the window. Frames have neither this script nor the handler.
function (origins) {
	'use strict'
	if (!origins.includes(location.origin)) return
	// The window tells documents apart by this number, even two documents with the same address.
	const own = Math.random().toString(36).slice(2)
	const handler = webkit.messageHandlers.quickconnect
	// More characters than a page's script ever needs to send at once. With more, the window would freeze.
	const most = 32 << 20
	let waiting = 0

	// The window answers a message when it has something for the page, so one message always waits there.
	async function post(text) {
		waiting++
		const answer = await handler.postMessage(own + '\x1e' + text).catch(() => '')
		waiting--
		if (answer) document.dispatchEvent(new CustomEvent('quickconnect-in', { detail: answer }))
		// If the page sends something within this turn, that message becomes the waiting one.
		for (let turn = 0; turn < 4; turn++) await null
		if (!waiting) post('p0 ')
	}

	document.addEventListener('quickconnect-out', event => {
		event.preventDefault()
		const text = String(event.detail)
		if (text.length > most) console.error(`quickconnect: ${text.length} characters at once are too many, and are not sent`)
		else post(text)
	})
	post('d0 ')
	// The order of the worlds is not fixed: the page's own world may have started first.
	document.dispatchEvent(new CustomEvent('quickconnect-linked'))
}
