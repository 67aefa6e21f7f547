// SPDX-License-Identifier: Apache-2.0
// In a kiosk whose page is a folder: what pages in browsers do with media/NAME works in the window, too. The engine plays
// no sound or video from qc: (its player knows http: and blob: alone), and passes no body of a request on, so files are
// played as blobs, and written in pieces with the command media.
function (origins) {
	'use strict'
	if (!origins.includes(location.origin) || location.protocol !== 'qc:') return
	const { Blob, Event, FileReader, FormData, HTMLMediaElement, ProgressEvent, Response, Request, URL, XMLHttpRequest, document, fetch } = window

	// Sound and video.

	const media = HTMLMediaElement.prototype, source = Object.getOwnPropertyDescriptor(media, 'src'), { play } = media
	// What an element is waiting for: its address, and a promise that the blob is there.
	const waiting = new WeakMap()
	// Elements with addresses that have no file.
	const missing = new WeakMap()

	function inFolder(address) {
		try {
			return new URL(address, document.baseURI).protocol === 'qc:'
		} catch {
			return false
		}
	}

	async function fill(element, wait) {
		try {
			const answer = await fetch(new URL(wait.address, document.baseURI))
			const blob = answer.ok && await answer.blob()
			if (waiting.get(element) !== wait) return
			// If there is none, the engine tells the page so.
			const address = blob ? URL.createObjectURL(blob) : wait.address
			if (!blob) missing.set(element, address)
			const free = () => URL.revokeObjectURL(address)
			if (blob) element.addEventListener('loadstart', () => element.addEventListener('emptied', free, { once: true }), { once: true })
			source.set.call(element, address)
		} finally {
			if (waiting.get(element) === wait) waiting.delete(element)
		}
	}

	function setSource(element, address) {
		waiting.delete(element)
		missing.delete(element)
		if (!inFolder(address)) return source.set.call(element, address)
		const wait = { address }
		waiting.set(element, wait)
		wait.done = fill(element, wait).catch(() => {})
	}

	Object.defineProperty(media, 'src', { ...source, set(address) { setSource(this, String(address)) } })
	media.play = function () {
		const wait = waiting.get(this)
		return wait ? wait.done.then(() => play.call(this)) : play.call(this)
	}
	const { Audio } = window
	window.Audio = function (address) {
		const audio = new Audio()
		audio.preload = 'auto'
		if (address !== undefined) audio.src = address
		return audio
	}
	window.Audio.prototype = Audio.prototype

	// Elements of the document have their address without any script.
	function look(node) {
		if (node.nodeType !== 1) return
		for (const each of [node, ...node.querySelectorAll('audio, video, source')]) {
			const element = each.localName === 'source' ? each.parentNode : each, address = each.getAttribute('src')
			if (!(element instanceof HTMLMediaElement) || element !== each && element.hasAttribute('src')) continue
			if (address && inFolder(address) && !waiting.has(element) && missing.get(element) !== address) setSource(element, address)
		}
	}
	new MutationObserver(changes => changes.forEach(({ addedNodes, target, type }) => type === 'attributes' ? look(target) : addedNodes.forEach(look)))
		.observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['src'] })
	// The engine's own attempt has failed by then, which is none of the page's business.
	window.addEventListener('error', event => {
		const element = event.target?.localName === 'source' ? event.target.parentNode : event.target
		if (element instanceof HTMLMediaElement && waiting.has(element)) event.stopImmediatePropagation()
	}, true)

	// Writing.

	// A number of bytes that Base64 needs no padding for.
	const piece = 192 << 10, writing = new Set()
	const statuses = { badRequest: 400, denied: 403, notFound: 404, unknownCommand: 404, busy: 409, tooLarge: 413, invalid: 422, timeout: 504, internal: 500 }

	function isWrite(method, address) {
		const { protocol, pathname } = new URL(address, document.baseURI)
		return protocol === 'qc:' && /^(PUT|POST)$/i.test(method) && /^\/media(\/|$)/.test(pathname)
	}

	const base64 = blob => new Promise((resolve, reject) => {
		const reader = new FileReader()
		reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(',') + 1))
		reader.onerror = () => reject(reader.error)
		reader.readAsDataURL(blob)
	})

	async function write(file, blob, shared, progress, isOver) {
		if (writing.has(file)) throw Object.assign(new Error(`'${file}' is being written`), { code: 'busy' })
		writing.add(file)
		try {
			const { size } = blob
			await window.quickconnect.call('media', 'write', file, 0, '', { begin: true, size, shared })
			for (let offset = 0; offset < size; offset += piece) {
				if (isOver()) throw Object.assign(new Error('the request was ended'), { code: 'cancelled' })
				const data = blob.slice(offset, offset + piece)
				await window.quickconnect.call('media', 'write', file, offset, await base64(data))
				progress(data.size)
			}
			await window.quickconnect.call('media', 'write', file, size, '', { end: true })
			// The name that the daemon gives it.
			return { file: /\.[^/]*$/.test(file) ? file : `${file}.caf`, bytes: size }
		} finally {
			writing.delete(file)
		}
	}

	// As quickconnect-web answers (docs/web.md): the status and a value.
	async function send(method, address, body, progress, isOver = () => false) {
		const url = new URL(address, document.baseURI), shared = url.searchParams.getAll('shared').includes('true')
		try {
			// The window decides on the address.
			const head = await fetch(url, { method }).catch(() => null)
			if (!head) return [404, { code: 'notFound', message: 'no file can have that address' }]
			const told = await head.json()
			if (head.status !== 501) return [head.status, told]
			if (method === 'PUT') {
				const blob = body instanceof Blob ? body : new Blob(body == null ? [] : [body])
				return [201, await write(told.file, blob, shared, progress, isOver)]
			}
			const files = body instanceof FormData ? [...body.values()].filter(value => value instanceof Blob && value.name) : []
			if (!(body instanceof FormData)) return [415, { code: 'badRequest', message: 'send a form with the type multipart/form-data, or the bytes of a file by PUT media/NAME' }]
			if (!files.length) return [400, { code: 'badRequest', message: 'the form has no file' }]
			const saved = []
			for (const file of files) saved.push(await write(file.name.replace(/^.*[/\\]/s, ''), file, shared, progress, isOver))
			return [201, { files: saved }]
		} catch (error) {
			return [statuses[error.code] || 503, { code: error.code || 'internal', message: error.message }]
		}
	}

	window.fetch = function (input, options = {}) {
		const isRequest = input instanceof Request, address = isRequest ? input.url : String(input)
		const method = (options.method || (isRequest ? input.method : 'GET')).toUpperCase()
		if (!isWrite(method, address)) return fetch.call(window, input, options)
		const body = options.body === undefined && isRequest ? input.blob() : Promise.resolve(options.body)
		return body.then(body => send(method, address, body, () => {}, () => options.signal?.aborted)).then(([status, value]) => {
			if (options.signal?.aborted) throw options.signal.reason
			return new Response(JSON.stringify(value) + '\n', { status, headers: { 'Content-Type': 'application/json' } })
		})
	}

	const requests = new WeakMap(), own = XMLHttpRequest.prototype
	const { open: openRequest, send: sendRequest, abort } = own
	own.open = function (method, address, ...more) {
		requests.set(this, { method: String(method).toUpperCase(), address: String(address) })
		return openRequest.call(this, method, address, ...more)
	}
	own.send = function (body) {
		const request = requests.get(this)
		if (!request || !isWrite(request.method, request.address)) return sendRequest.call(this, body)
		const total = body instanceof FormData ? [...body.values()].reduce((sum, value) => sum + (value.size || 0), 0) : new Blob(body == null ? [] : [body]).size
		let loaded = 0
		const tell = (target, name, loaded = 0, total = 0) => target.dispatchEvent(new ProgressEvent(name, { lengthComputable: total > 0, loaded, total }))
		const progress = count => tell(this.upload, 'progress', loaded += count, total)
		tell(this, 'loadstart')
		tell(this.upload, 'loadstart', 0, total)
		send(request.method, request.address, body, progress, () => request.isOver).then(([status, value]) => {
			if (request.isOver) return
			const text = JSON.stringify(value) + '\n', response = this.responseType === 'json' ? value : this.responseType === 'blob' ? new Blob([text]) : text
			const got = { status, statusText: '', readyState: 4, response, responseText: text, responseURL: new URL(request.address, document.baseURI).href }
			for (const name in got) Object.defineProperty(this, name, { configurable: true, value: got[name] })
			if (status === 201) tell(this.upload, 'load', total, total)
			tell(this.upload, 'loadend', loaded, total)
			this.dispatchEvent(new Event('readystatechange'))
			tell(this, 'load', text.length, text.length)
			tell(this, 'loadend', text.length, text.length)
		})
	}
	own.abort = function () {
		const request = requests.get(this)
		if (request && isWrite(request.method, request.address) && !request.isOver) {
			request.isOver = true
			for (const target of [this.upload, this]) for (const name of ['abort', 'loadend']) target.dispatchEvent(new ProgressEvent(name))
		}
		return abort.call(this)
	}
}
