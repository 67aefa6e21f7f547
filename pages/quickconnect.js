// SPDX-License-Identifier: Apache-2.0
// Calls, events and handlers over the WebSocket of quickconnect-web (docs/pages.md).
(function () {
'use strict'

const impatience = 300, patience = 1e4, nothing = () => {}, json = JSON.stringify
// These end a stack.
const ends = [null, 'stop', 'ExIt_StAcK', 'wait', 'wAiT']

// A text is JSON, as in the book, or plain.
function parametersOf(message) {
	if (typeof message !== 'string') return json(message)
	try {
		JSON.parse(message)
		return message.replace(/[\r\n]/g, ' ') // Large numbers stay exact.
	} catch {
		return message && json(message)
	}
}

function needsFunction(what, run) {
	if (typeof run !== 'function') throw new TypeError(`${what} needs a function, not ${run}`)
}

function unlessSettled(promise, time, run) {
	const timer = setTimeout(run, time), end = () => clearTimeout(timer)
	promise.then(end, end)
	return promise
}

function guarded(run, ...values) {
	try {
		run(...values)
	} catch (error) {
		setTimeout(() => { throw error })
	}
}

// A page may replace its functions in `scope`.
function connect({ url, WebSocket = globalThis.WebSocket, scope = {}, refused = nothing }) {
	const waiting = new Map(), underWay = new Map(), handlers = new Map(), listeners = new Map()
	const subscribed = new Map(), mapped = new Map(), viewed = new Set(), watchers = new Set(), looks = new Set()
	const replies = new Set(['error', 'default', 'showLoc', 'showPickResults', 'pagesChanged']), commands = new Set()
	let state = 'idle', socket, isOpen, timer, delay = impatience, count = 0, queued = 0, heardAt, tickedAt = Date.now()

	function tell(next) {
		if (state === next || state === 'closed') return
		client.state = state = next
		watchers.forEach(watcher => watcher(state))
	}

	function watch(watcher) {
		watchers.add(watcher)
		begin()
		watcher(state)
		return () => watchers.delete(watcher)
	}

	const begin = () => state === 'idle' && open()

	function open() {
		if (socket || state === 'closed') return
		clearTimeout(timer)
		const each = socket = new WebSocket(url())
		tell('connecting')
		timer = setTimeout(drop, patience, each)
		each.onopen = () => socket === each && opened()
		each.onmessage = ({ data }) => socket === each && String(data).split('\n').forEach(line => line && receive(line))
		each.onerror = nothing // `close` follows.
		each.onclose = () => {
			lost(each)
			// The WebSocket does not tell of a log-out.
			if (heardAt && WebSocket === scope.WebSocket) fetch(new URL('session', client.base)).then(({ status }) => {
				if (status === 401 && state === 'waiting') watchers.size ? tell('loggedOut') : location.reload()
			}, nothing)
		}
	}

	function opened() {
		clearTimeout(timer)
		isOpen = true
		heardAt = Date.now()
		for (const name of handlers.keys()) register(name)
		for (const name of subscribed.keys()) renew(name)
		tell('connected')
		for (const look of looks) look().catch(warn)
		pump()
	}

	function lost(each) {
		if (socket !== each) return
		const calls = [...underWay.values()]
		clearTimeout(timer)
		socket = isOpen = undefined
		underWay.clear()
		tell('waiting')
		timer = setTimeout(open, delay * (0.75 + Math.random() / 2))
		delay = Math.min(delay * 2, patience)
		for (const call of calls) fail(call, 'connectionLost', 'the connection was lost')
	}

	function drop(each) {
		lost(each)
		each.close()
	}

	const rest = () => socket && drop(socket)

	// A connection may have died in a sleep.
	function wake() {
		delay = impatience
		if (!isOpen) return state === 'idle' || open()
		const each = socket
		unlessSettled(ask('ping', [], true), patience, () => drop(each))
	}

	const ticker = setInterval(() => {
		const slept = Date.now() - tickedAt > 3e4
		tickedAt = Date.now()
		if (isOpen && (slept || underWay.size && tickedAt - heardAt > 15e3)) wake()
	}, 15e3)
	ticker.unref?.()

	function close() {
		tell('closed')
		clearInterval(ticker)
		rest()
		clearTimeout(timer)
		for (const call of waiting.values()) fail(call, 'connectionLost', 'closed')
	}

	// `own`: only the promise gets the reply. `first`: before those that wait.
	function start(command, data, own, first) {
		const id = 'c' + ++count, promise = new Promise((resolve, reject) => {
			const call = { command, resolve, reject, own }
			call.line = `{"handlerName":${json(command)}${data ? ',"data":' + data : ''},"callbackId":"${id}"}`
			if (state === 'closed') return fail(call, 'connectionLost', 'closed')
			if (call.line.length > 4 << 20) return fail(call, 'tooLarge', 'the call is too long')
			if (queued > 16 << 20) return fail(call, 'overloaded', 'too much is waiting')
			if (first) return send(id, call)
			queued += call.line.length
			waiting.set(id, call)
			begin()
			pump()
		})
		own || promise.catch(warn) // It may be ignored.
		return Object.assign(promise, { id })
	}

	const ask = (command, parameters, first) => start(command, json(parameters), true, first)
	const doubt = told => told?.warning && console.warn(told.warning)
	const warn = error => error.code === 'connectionLost' || console.warn(error.cmd + ': ' + error.message)

	function send(id, call) {
		underWay.set(id, call)
		socket.send(call.line)
	}

	function pump() {
		for (const id of waiting.keys()) {
			if (!isOpen || underWay.size >= 1000) return
			send(id, take(id))
		}
	}

	function take(id) {
		const call = waiting.get(id)
		if (waiting.delete(id)) queued -= call.line.length
		return call
	}

	function makeCall(command, message) {
		isCommand(command = String(command))
		return start(command, parametersOf(message))
	}

	function receive(line) {
		heardAt = Date.now()
		delay = impatience
		line[0] === '{' ? dispatch(JSON.parse(line)) : console.warn('the device says: ' + line)
	}

	function dispatch(message, to) {
		const { responseId, callbackId, handlerName: name, data, error } = message
		if (responseId !== undefined) answered(responseId, message)
		else if (callbackId !== undefined) called(message, to)
		else if (name) happened(name, data)
		else if (message.lease) socket.send('')
		else error?.cmd && warn(error), replied('error', error)
	}

	function answered(id, { error, responseData, handlerName }) {
		const call = underWay.get(id)
		underWay.delete(id)
		pump()
		if (!call) return
		if (error) return fail(call, error.code, error.message, error)
		call.resolve(responseData)
		if (!call.own && (responseData !== null || handlerName)) replied(handlerName || call.command, responseData)
	}

	function fail(call, code, message, members) {
		const error = { cmd: call.command, code, message, ...members }
		call.reject(Object.assign(new Error(message), error, { name: code }))
		const isTold = call.own ? call.command !== 'registerHandler' : own('E', call.command)[0]
		if (code === 'denied') refused(error, isTold && (name => own('B', name)[0] || own('Val', name)[0]))
		if (!call.own) replied('error', error)
	}

	// The book's front controller

	function map(kind, command, run) {
		needsFunction(command, run)
		mapped.set(kind + command, [...own(kind, command), run])
		if (kind === 'V') setTimeout(() => replies.has(command) || viewed.add(command) && view(command))
	}

	const own = (kind, command) => mapped.get(kind + command) || []
	const functions = (kind, command) => [...own(kind, 'default'), ...(command === 'default' ? [] : own(kind, command))]

	function handleRequest(command, parameters) {
		const steps = ['Val', 'B', 'V'].flatMap(kind => functions(kind, command).map(run => [kind, run]))
		if (command === 'error') handleError(command, parameters?.message, parameters)
		try {
			return goOn(command, parameters, [], steps)
		} catch (error) {
			if (command === 'error' || !own('E', command).length) throw error
			handleError(command, error.message, parameters)
		}
	}

	function goOn(command, parameters, results, steps) {
		while (steps.length) {
			const [kind, run] = steps.shift(), isView = kind === 'V'
			const result = isView ? run(results, parameters) : run(parameters, results)
			const accepts = value => {
				if (kind === 'Val' && (value === false || ends.includes(value))) handleError(command, 'validation failed', parameters)
				else if (!ends.includes(value, +isView)) return kind === 'B' ? results.push(value) : true
			}
			if (!isView && result?.then) return result.then(value => accepts(value) && goOn(command, parameters, results, steps))
			if (!accepts(result)) return
		}
	}

	function handleError(command, message, parameters) {
		functions('E', command).some(run => run(message, parameters) === 'stop')
	}

	const handleJSONRequest = (command, text) => scope.handleRequest(command, text ? JSON.parse(text) : null)

	function replied(command, value) {
		if (command === 'error' && own('E', value.cmd).length) guarded(handleError, value.cmd, value.message, value)
		guarded(scope.handleJSONRequest, command, json(value))
	}

	function isCommand(name) {
		if (commands.has(name)) return
		commands.add(name)
		if (viewed.has(name)) view(name)
	}

	// A VCF hears the events of its name; of a command, only those of a value.
	const view = name => subscribe(name).catch(error => {
		viewed.delete(name)
		subscribe(name).catch(nothing)
		error.code === 'notFound' || warn(error)
	})

	function happened(name, value) {
		listeners.get(name)?.all.forEach(each => guarded(each.listener, value, name))
		if (handlers.has(name)) guarded(handlers.get(name), value, nothing)
		guarded(scope.handleRequest, name, value)
	}

	const renew = name => ask('subscribe', [name, ...subscribed.get(name)], true).catch(again(() => subscribed.has(name) && renew(name)))

	// The last connection may hold the name, or this user too much.
	const again = task => error => {
		error.code === 'busy' || error.code === 'overloaded' ? setTimeout(() => isOpen && task(), 1000) : warn(error)
	}

	// A new connection gets all `subscribed`.
	async function subscribe(name) {
		const { all = [], options = commands.has(name) && !all.length ? [{ value: true }] : [] } = listeners.get(name) || {}
		if (!all.length && !viewed.has(name)) return subscribed.delete(name) && isOpen && ask('unsubscribe', [name]).catch(nothing)
		if (json(subscribed.get(name)) === json(options)) return
		const told = await ask('subscribe', [name, ...options]).catch(error => {
			if (error.code !== 'connectionLost') throw error
		})
		doubt(told)
		subscribed.set(name, options)
		return subscribe(name)
	}

	async function on(name, listener, options) {
		needsFunction('on', listener)
		const entry = listeners.get(name) || { all: [] }, own = { listener }, before = entry.options
		const off = () => {
			entry.all = entry.all.filter(each => each !== own)
			return subscribe(name)
		}
		listeners.set(name, entry)
		entry.all = [...entry.all, own]
		if (options) entry.options = [options]
		await subscribe(name).catch(error => {
			entry.options = before
			return off().catch(nothing).then(() => { throw error })
		})
		return off
	}

	// Values

	async function value(name, listener) {
		const isOnce = arguments.length < 2
		isOnce || needsFunction('value', listener)
		let last, off = nothing
		const changed = data => {
			if (last === json(data)) return
			last = json(data)
			guarded(listener, data, name)
		}
		const look = () => ask(name, []).then(data => looks.has(look) && changed(data))
		const end = () => {
			looks.delete(look)
			return off()
		}
		off = await on(name, isOnce ? nothing : changed, { value: true })
		if (isOnce) return ask(name, []).finally(() => { off().catch(nothing) })
		looks.add(look)
		await look().catch(error => error.code === 'connectionLost' && state !== 'closed' || end().then(() => { throw error }))
		return end
	}

	const mistake = text => Promise.reject(new TypeError(text))
	const set = async (name, value) => json([value]) === '[null]' ? mistake(`${name} cannot be set to ${value}`) : ask(name, [value])
	const add = (name, number = 1) => ask(name, [null, { add: number }])
	const post = (event, data = null) => ask('post', [event, data])

	// WebViewJavascriptBridge

	function register(name) {
		ask('registerHandler', [name], true).then(doubt, again(() => handlers.has(name) && register(name)))
	}

	function registerHandler(name, handler) {
		const isNew = !handlers.has(name)
		handlers.set(name, handler)
		if (isNew && isOpen) register(name)
		begin()
	}

	async function handle(name, answer) {
		needsFunction('handle', answer)
		const handler = (...[data, , call]) => answer(data, call)
		handlers.set(name, handler)
		await ask('registerHandler', [name]).then(doubt, error => {
			if (error.code === 'connectionLost' && state !== 'closed') return
			if (handlers.get(name) === handler) handlers.delete(name)
			throw error
		})
	}

	function removeHandler(name) {
		if (handlers.delete(name) && isOpen) ask('removeHandler', [name]).catch(nothing)
	}

	function callHandler(name, data, done) {
		if (arguments.length === 2 && typeof data === 'function') [done, data] = [data, null]
		isCommand(name)
		const promise = start(name, json(data))
		if (done) promise.then(done, error => done(null, error))
		return promise
	}

	const ownHandlers = { __proto__: null, _disableJavascriptAlertBoxSafetyTimeout: nothing }

	function missing(name) {
		const message = `the page has no handler '${name}'; it adds one by registerHandler('${name}', data => …)`
		throw Object.assign(new Error(message), { code: 'unavailable' })
	}

	async function called(call, to) {
		const { callbackId: responseId, handlerName: name, data } = call, each = to || socket
		call.parameters = data == null ? [] : [data].flat()
		let isAnswered
		const answer = body => {
			if (!isAnswered && (to || socket === each)) each.send(json({ responseId, ...body }))
			isAnswered = true
		}
		const succeed = (responseData = null) => answer({ responseData, handlerName: call.replyCommand, end: call.end })
		try {
			const handler = handlers.get(name) || ownHandlers[name] || missing(name)
			const result = handler(data, succeed, call), value = await result
			if (handler.length < 2 || value !== undefined && value !== result) succeed(value)
		} catch (error) {
			const { code, field, message = String(error) } = Object(error)
			answer({ error: { code, field, message } })
			console.error(error)
		}
	}

	const call = (command, ...parameters) => ask(command, parameters)

	function callWith(options, command, ...parameters) {
		const { timeout } = Object(options), told = json(options)
		if (told !== json({ timeout }) || !(timeout === undefined || timeout >= 0 && timeout < 2 ** 31)) {
			return mistake('callWith takes {timeout: milliseconds}, not ' + told)
		}
		const promise = ask(command, parameters), { id } = promise
		return timeout >= 0 ? unlessSettled(promise, timeout, () => {
			const call = take(id) || underWay.get(id)
			if (underWay.has(id)) ask('cancel', [id], true).catch(nothing)
			fail(call, 'timeout', `${command} was not answered within ${timeout} ms`)
		}) : promise
	}

	const client = {
		state, makeCall, handleRequest, handleJSONRequest, handleError, call, callWith, on, watch, wake, rest, close,
	}
	client.bridge = {
		registerHandler, removeHandler, callHandler,
		disableJavscriptAlertBoxSafetyTimeout: nothing, disableJavascriptAlertBoxSafetyTimeout: nothing,
		_fetchQueue: () => '[]', _handleMessageFromObjC: (text, to) => dispatch(JSON.parse(text), to),
	}
	// A door stays open where `for` is dropped.
	for (const [word, run] of Object.entries({ handle, value, set, add, post })) {
		client[word] = (...values) => values.length < 3 ? run(...values) : mistake(word === 'set'
			? `a value with options is a call: quickconnect.call(${json(values).slice(1, -1)})` : word + ' takes 2 arguments')
	}
	for (const kind of ['Val', 'B', 'V', 'E']) client[`mapCommandTo${kind}CF`] = (command, run) => map(kind, String(command), run)
	Object.assign(scope, { handleRequest, handleJSONRequest })
	return Object.assign(client, client.bridge)
}

const api = { connect: ({ url, ...others }) => connect({ url: () => url, ...others }) }
if (!globalThis.document) {
	globalThis.quickconnect = api
	if (typeof module === 'object') module.exports = api
	return
}
if (window.quickconnect) return

// Globals in a page. A kiosk has its own socket.
const own = window.QuickConnectSocket
const refused = (...what) => own || import(new URL('refused.js', device.base)).then(({ show }) => show(...what)).catch(nothing)
const device = connect({
	url: () => new URL('bridge?answers', device.base).href.replace(/^http/, 'ws'), scope: window,
	WebSocket: own || WebSocket, refused,
})
device.base = document.currentScript?.src || document.baseURI
window.quickconnect = window.qc = Object.assign(device, api)
device.mapCommandToVCF('pagesChanged', () => location.reload()) // --watch
for (const name in device) if (/^(makeCall|handle.|mapCommand)/.test(name)) window[name] = device[name]
Object.assign(window, { messages: [], storeMessage: false, canSend: true, WebViewJavascriptBridge: device.bridge })
window.setupWebViewJavascriptBridge = callback => callback(device.bridge)
own || setTimeout(() => window.WVJBCallbacks?.splice(0).forEach(callback => callback(device.bridge)))
if (!window.webkit?.messageHandlers) {
	const get = (_, name) => ({ postMessage: body => device.callHandler(name, body) })
	window.webkit = { ...window.webkit, messageHandlers: new Proxy({}, { get }) }
}

// The book's calls: by address.
const queryOf = address => address.startsWith(location.origin + '/') && /^[^?#]*\/call\?(.+)$/s.exec(address)?.[1]
const decoded = text => text.replace(/(%[0-9a-f]{2})+/gi, bytes => {
	try { return decodeURIComponent(bytes) } catch { return bytes }
})

function callBy(query) {
	const isPlain = /^((cmd|msg|id)=[^&]*(&|$))+$/.test(query), find = pattern => pattern.exec(query)?.[1]
	const cmd = find(/(?:^|&)cmd=([^&]*)/), msg = find(isPlain ? /(?:^|&)msg=([^&]*)/ : /&msg=(.*)/s)
	if (cmd) device.makeCall(decoded(cmd), msg && msg !== 'undefined' && decoded(msg) || '')
	queueMicrotask(() => {
		window.storeMessage = false
		window.messages.splice(0).forEach(callBy)
	})
}

function caught(event, address) {
	const query = !event.defaultPrevented && queryOf(address + '')
	if (!query) return
	event.preventDefault()
	callBy(query)
}

let told = 0
const log = text => told++ < 20 && device.call('logMessage', text.slice(0, 500)).catch(nothing)
addEventListener('error', ({ message, filename, lineno, colno }) => message && log(`${message} (${filename}:${lineno}:${colno})`))
addEventListener('unhandledrejection', event => {
	if (event.reason?.code === 'connectionLost') return
	log('unhandled rejection: ' + event.reason)
	refused(event)
})
const early = [...document.scripts]
addEventListener('load', () => early[1] && device.state === 'idle' && refused({ early }))
addEventListener('securitypolicyviolation', refused)
addEventListener('error', refused, true)
for (const name of ['online', 'pageshow', 'visibilitychange']) addEventListener(name, () => document.hidden || device.wake())
addEventListener('pagehide', device.rest)

if (own) return own.callBy = callBy
window.navigation?.addEventListener('navigate', event => caught(event, event.destination.url))
addEventListener('click', event => caught(event, event.target.closest?.('a[href]')?.href))
new MutationObserver(records => {
	const frames = new Set(records.flatMap(({ target, type, addedNodes }) => type === 'attributes' ? target : [...addedNodes]))
	for (const { localName, src } of frames) {
		const query = localName === 'iframe' && queryOf(src)
		query && callBy(query)
	}
}).observe(document, { subtree: true, childList: true, attributeFilter: ['src'] })
})()
