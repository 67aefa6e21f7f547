// SPDX-License-Identifier: Apache-2.0
// In a kiosk, quickconnect.js uses this instead of WebSocket: the window's own connection to the daemon, and what only a
// window can do. It runs quickconnect.js in the page's world.
function (origins, functions, library) {
	'use strict'
	if (!origins.includes(location.origin)) return
	// A page may replace the properties of its window.
	const { CustomEvent, JSON, document, queueMicrotask, setTimeout } = window
	const between = '\x1e', sockets = new Map(), unlinked = []
	// Calls of one turn are sent together, in messages of about this many characters: the window limits a message's length.
	const most = 4 << 20
	let count = 0, frames = [], length = 0

	function say(kind, number, text = '') {
		if (length + text.length > most) flush()
		length += text.length
		if (!frames.length) queueMicrotask(flush)
		const last = frames[frames.length - 1]
		// Lines of one turn are sent together.
		if (last && kind === 'l' && last.kind === kind && last.number === number) last.texts.push(text)
		else frames.push({ kind, number, texts: [text] })
	}

	function flush() {
		if (!frames.length) return
		const text = frames.map(({ kind, number, texts }) => `${kind}${number} ${texts.join('\n')}`).join(between)
		frames = []
		length = 0
		pass(text)
	}

	function pass(detail) {
		if (document.dispatchEvent(new CustomEvent('quickconnect-out', { detail, cancelable: true }))) unlinked.push(detail)
	}

	class QuickConnectSocket {
		#number = ++count

		constructor() {
			sockets.set(this.#number, this)
			say('o', this.#number)
		}

		send(text) {
			if (sockets.has(this.#number)) say('l', this.#number, text)
		}

		close() {
			if (!sockets.delete(this.#number)) return
			say('c', this.#number)
			setTimeout(() => this.onclose?.())
		}
	}

	function take(frame) {
		const [, kind, number, text] = /^(.)(\d+) (.*)$/s.exec(frame), socket = sockets.get(+number)
		if (kind === 'o') socket?.onopen?.()
		if (kind === 'l') socket?.onmessage?.({ data: text })
		if (kind === 'c' && sockets.delete(+number)) socket.onclose?.()
		if (kind === 'u' && number === '0') QuickConnectSocket.callBy?.(text)
		if (kind === 'u' && number === '1') makeCall(...JSON.parse(text))
		if (kind === 'b') drain()
		if (kind === 'q') fetchQueue(window.WebViewJavascriptBridge)
		if (kind === 'h') called(text, number === '0' ? () => {} : reply)
	}

	// An address with one of the owner's schemes is the only parameter of its command.
	const makeCall = (command, address) => window.quickconnect.makeCall(command, JSON.stringify([address]))

	// For a page with its own bridge: takes its messages, as the original does.
	function fetchQueue(bridge) {
		for (const message of JSON.parse(bridge._fetchQueue())) {
			const { responseId, callbackId, handlerName, data } = message
			if (responseId !== undefined) reply(JSON.stringify(message))
			else answer(bridge, callbackId, window.quickconnect.callHandler(handlerName, data))
		}
	}

	function answer(bridge, responseId, result) {
		const tell = message => responseId === undefined || bridge._handleMessageFromObjC(JSON.stringify(message))
		result.then(responseData => tell({ responseId, responseData }), error => tell({ responseId, responseData: null, error }))
	}

	// As in the original, a page gets the bridge after it has been parsed: then what its callbacks look for exists.
	function beginBridge() {
		window.WebViewJavascriptBridge ||= window.quickconnect.bridge
		drain()
	}

	function drain() {
		if (document.readyState === 'loading' || !window.WVJBCallbacks) return
		const callbacks = window.WVJBCallbacks.splice(0)
		// The bridge's own script takes the list itself, a little later.
		if (window.WebViewJavascriptBridge === window.quickconnect.bridge) delete window.WVJBCallbacks
		for (const callback of callbacks) callback(window.WebViewJavascriptBridge)
	}

	// The window calls a handler of the page.
	function called(text, send) {
		const bridge = window.WebViewJavascriptBridge || window.quickconnect
		bridge._handleMessageFromObjC(text, { send })
	}

	// No caller can be given more, and the window would not get it.
	function reply(answer) {
		if (answer.length <= most) return say('r', 0, answer)
		const error = { code: 'tooLarge', message: `the answer of the page's handler has ${answer.length} characters, the maximum is ${most}` }
		say('r', 0, JSON.stringify({ responseId: JSON.parse(answer).responseId, error }))
	}

	window.QuickConnectSocket = QuickConnectSocket
	document.addEventListener('quickconnect-in', ({ detail }) => {
		for (const frame of String(detail).split(between)) {
			try {
				take(frame)
			} catch (error) {
				setTimeout(() => { throw error })
			}
		}
	})
	document.addEventListener('quickconnect-linked', () => unlinked.splice(0).forEach(pass))
	library()
	delete window.WebViewJavascriptBridge
	// «robot.turn» is a function of the object robot.
	const objects = new Map()
	for (const name of functions) {
		const [first, member] = name.split('.')
		const isTaken = objects.has(first) ? member === undefined || Object.hasOwn(objects.get(first), member) : first in window
		if (isTaken) {
			const taken = `the page's window already has '${name}', so that the setting 'functions' adds none`
			window.quickconnect.call('logMessage', 'quickconnect-kiosk: ' + taken)
			continue
		}
		const call = (...parameters) => window.quickconnect.call(name, ...parameters)
		if (member === undefined) window[name] = call
		else {
			if (!objects.has(first)) objects.set(first, window[first] = {})
			objects.get(first)[member] = call
		}
	}
	document.addEventListener('DOMContentLoaded', beginBridge)
}
