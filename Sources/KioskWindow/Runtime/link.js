// SPDX-License-Identifier: Apache-2.0
// Runs in the world «quickconnect», where pages have no scripts and the window's message handler is: it passes on what the
// page's own world and the window say to each other. Frames have neither this nor the handler.
function (origins) {
	'use strict'
	if (!origins.includes(location.origin)) return
	// The window tells documents apart by it, also two of one address.
	const own = Math.random().toString(36).slice(2)
	const handler = webkit.messageHandlers.quickconnect
	// More characters than a page's script ever has to send at once; the window would stand still with them.
	const most = 32 << 20
	let waiting = 0

	// The window answers a message when it has something for the page, so one of them always waits there.
	async function post(text) {
		waiting++
		const answer = await handler.postMessage(own + '\x1e' + text).catch(() => '')
		waiting--
		if (answer) document.dispatchEvent(new CustomEvent('quickconnect-in', { detail: answer }))
		// What the page says to it within this turn is the next one that waits.
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
	// The order of the worlds is not fixed: the page's own may have been first.
	document.dispatchEvent(new CustomEvent('quickconnect-linked'))
}
