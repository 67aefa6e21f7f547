// pages/quickconnect.js in Node, against a device that is played here: node --test Tests/Pages
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { connect } from '../../pages/quickconnect.mjs'

const turn = () => new Promise(resolve => setTimeout(resolve, 5))

async function until(condition) {
	for (let count = 0; count < 2000; count++) {
		if (condition()) return
		await turn()
	}
	assert.fail('waited in vain for ' + condition)
}

// A device: what `answer(message, socket)` returns is the reply. Its sockets open at once, unless it is `away`.
function device(answer = () => null, scope) {
	const all = []
	class WebSocket {
		constructor(url) {
			Object.assign(this, { url, lines: [] })
			all.push(this)
			setImmediate(() => device.away ? this.close() : this.onopen?.({}))
		}
		send(line) {
			const message = JSON.parse(line)
			this.lines.push(message)
			if (message.responseId !== undefined) return
			setImmediate(() => {
				const reply = answer(message, this)
				if (reply !== undefined) this.say({ responseId: message.callbackId, ...(reply?.reply ?? { responseData: reply }) })
			})
		}
		say(message) { this.onmessage?.({ data: JSON.stringify(message) }) }
		close() { setImmediate(() => this.onclose?.({})) }
	}
	const device = {
		away: false, all, get socket() { return all.at(-1) },
		said: command => all.flatMap(({ lines }) => lines).filter(({ handlerName }) => handlerName === command),
	}
	if (scope) scope.WebSocket = WebSocket
	device.client = connect({ url: 'ws://127.0.0.1:1/bridge', WebSocket, scope })
	return device
}

const refused = (code, message = code) => ({ reply: { error: { code, message } } })

test('it is smaller than 19.5 kB', () => {
	assert.ok(readFileSync(new URL('../../pages/quickconnect.js', import.meta.url)).length < 19500)
})

test('nothing connects before something is wanted', async () => {
	const { all, client } = device()
	await turn()
	assert.equal(all.length, 0)
	assert.equal(client.state, 'idle')
	client.close()
})

test('a message is text, as in the book, or any value', async () => {
	const { client, said } = device(() => 1)
	const cases = [
		[undefined, undefined], ['', undefined], [null, null], [-1, -1], ['-1', -1], ['DateTime', 'DateTime'], ['[1,', '[1,'],
		['["a.caf","start"]', ['a.caf', 'start']], [{ a: 1 }, { a: 1 }], ['"x"', 'x'], ['{"a":\n"b\\n"}', { a: 'b\n' }],
	]
	for (const [message] of cases) assert.equal(await client.makeCall('each', message), 1)
	assert.deepEqual(said('each').map(({ data }) => data), cases.map(([, data]) => data))
	client.close()
})

test('numbers beyond a double stay exact', async () => {
	const each = device()
	const sent = []
	await each.client.makeCall('ping')
	each.socket.send = line => sent.push(line)
	each.client.makeCall('x', '[9223372036854775807]').catch(() => {})
	assert.match(sent[0], /"data":\[9223372036854775807\]/)
	each.client.close()
})

test('calls made before the connection are sent in their order', async () => {
	const { client, said } = device(({ data }) => data)
	const all = await Promise.all(Array.from({ length: 3000 }, (_, number) => client.makeCall('echo', number)))
	assert.deepEqual(all, Array.from({ length: 3000 }, (_, number) => number))
	assert.deepEqual(said('echo').map(({ data }) => data), all)
	client.close()
})

test('no more than 1,000 calls are under way', async () => {
	const each = device(() => undefined)
	for (let number = 0; number < 1500; number++) each.client.makeCall('slow').catch(() => {})
	await until(() => each.said('slow').length === 1000)
	await turn()
	assert.equal(each.said('slow').length, 1000)
	each.socket.say({ responseId: each.said('slow')[0].callbackId, responseData: null })
	assert.equal(each.said('slow').length, 1001)
	each.client.close()
})

test('too much and too long is refused here', async () => {
	const each = device()
	each.away = true
	await assert.rejects(each.client.makeCall('x', 'y'.repeat(5 << 20)), { code: 'tooLarge' })
	const waits = Array.from({ length: 6 }, () => each.client.makeCall('x', 'y'.repeat(4000000)).catch(({ code }) => code))
	assert.equal(await waits[5], 'overloaded')
	each.client.close()
	assert.equal(await waits[0], 'connectionLost')
	await assert.rejects(each.client.makeCall('x'), { code: 'connectionLost' })
})

test('a promise tells the id by which its call is cancelled', async () => {
	const { client, said, all } = device(({ handlerName }) => handlerName === 'slow' ? undefined : null)
	const promises = [client.makeCall('slow'), client.call('slow'), client.callHandler('slow')]
	assert.equal(await client.call('cancel', promises[1].id), null)
	assert.deepEqual(said('slow').map(({ callbackId }) => callbackId), promises.map(({ id }) => id))
	assert.deepEqual(said('cancel')[0].data, [promises[1].id])
	all[0].say({ responseId: promises[1].id, error: { cmd: 'slow', code: 'cancelled', message: 'the caller cancelled the call' } })
	await assert.rejects(promises[1], { code: 'cancelled' })
	for (const { id } of [promises[0], promises[2]]) all[0].say({ responseId: id, responseData: 1 })
	assert.deepEqual([await promises[0], await promises[2]], [1, 1])
	client.close()
})

test('an error has all that the reply has', async () => {
	const { client } = device(() => ({ reply: { error: { cmd: 'x', code: 'invalid', message: 'no', fields: [{ field: '/0' }] } } }))
	await assert.rejects(client.makeCall('x'), { name: 'invalid', code: 'invalid', message: 'no', cmd: 'x', fields: [{ field: '/0' }] })
	client.close()
})

test('replies go to the functions that are mapped, errors to theirs', async () => {
	const heard = []
	const { client } = device(({ handlerName }) => {
		if (handlerName === 'loc') return { reply: { responseData: [51.5, -0.1], handlerName: 'showLoc' } }
		return handlerName === 'rec' ? refused('busy') : null
	})
	client.mapCommandToVCF('showLoc', (data, parameters) => { heard.push(['V', data, parameters]) })
	client.mapCommandToECF('rec', message => { heard.push(['E', message]) })
	client.mapCommandToVCF('error', (data, error) => { heard.push(['error', error.code]) })
	assert.deepEqual(await client.makeCall('loc'), [51.5, -0.1])
	await client.makeCall('rec').catch(() => {})
	await client.makeCall('ping')
	assert.deepEqual(heard, [['V', [], [51.5, -0.1]], ['E', 'busy'], ['error', 'busy']])
	client.close()
})

test('a stack runs as in the book', async () => {
	const { client } = device()
	const heard = []
	client.mapCommandToValCF('default', parameters => { heard.push('default') })
	client.mapCommandToValCF('set', ([level]) => level >= 0)
	client.mapCommandToBCF('set', async ([level]) => level * 2)
	client.mapCommandToBCF('set', (parameters, results) => results[0] + 1)
	client.mapCommandToVCF('set', (results, parameters) => { heard.push([...results], parameters); return null })
	client.mapCommandToVCF('set', () => 'stop')
	client.mapCommandToVCF('set', () => assert.fail('behind a stop'))
	client.mapCommandToECF('set', message => { heard.push(message) })
	await client.handleRequest('set', [4])
	client.handleJSONRequest('set', '[-1]')
	assert.deepEqual(heard, ['default', [8, 9], [4], 'default', 'validation failed'])
	client.mapCommandToBCF('throws', () => { throw new Error('oops') })
	assert.throws(() => client.handleRequest('throws'), /oops/)
	client.mapCommandToECF('throws', message => { heard.push(message) })
	client.handleRequest('throws')
	assert.equal(heard.at(-1), 'oops')
	assert.throws(() => client.mapCommandToVCF('x', 7), TypeError)
	for (const name of ['constructor', '__proto__', 'toString']) client.handleRequest(name, [])
	client.close()
})

test('a VCF of an event subscribes to it, and what turns out to be a command is given up', async () => {
	const each = device(({ data }) => data?.[1]?.value ? refused('notFound') : null)
	const heard = []
	each.client.mapCommandToVCF('accel', (data, value) => { heard.push(value) })
	each.client.mapCommandToVCF('volume', () => {})
	each.client.mapCommandToVCF('showLoc', () => {})
	await until(() => each.said('subscribe').length === 2)
	await turn()
	assert.deepEqual(each.said('subscribe').map(({ data }) => data), [['accel'], ['volume']])
	each.socket.say({ handlerName: 'accel', data: { x: 1, y: 0, z: 0 } })
	assert.deepEqual(heard, [{ x: 1, y: 0, z: 0 }])
	await each.client.makeCall('volume')
	await until(() => each.said('unsubscribe').length === 1)
	assert.deepEqual(each.said('unsubscribe')[0].data, ['volume'])
	each.client.close()
})

test('listeners: options, refusal, and the end of the last one', async () => {
	const each = device(({ data }) => data?.[0] === 'nose' ? refused('unsupported') : null)
	const heard = []
	const off = await each.client.on('accel', value => heard.push(value), { rate: 30 })
	const other = await each.client.on('accel', value => heard.push(-value))
	each.socket.say({ handlerName: 'accel', data: 1 })
	assert.deepEqual(heard, [1, -1])
	await off()
	assert.equal(each.said('unsubscribe').length, 0)
	await other()
	assert.deepEqual(each.said('unsubscribe').map(({ data }) => data), [['accel']])
	await assert.rejects(each.client.on('nose', () => {}), { code: 'unsupported' })
	each.client.close()
})

// A device with the value `visitors`; `set` is what any client does.
function counter(visitors = 1) {
	const each = device(({ handlerName, data, ...others }) => {
		if (handlerName === 'subscribe' && data[1]?.value && data[0] !== 'visitors') return refused('notFound')
		if (handlerName !== 'visitors') return data ?? null
		if (data?.length) each.set(data[0])
		return visitors
	})
	each.set = value => {
		visitors = value
		each.client.state === 'connected' && each.socket.say({ handlerName: 'visitors', data: value })
	}
	return each
}

test('a value: now, at each change, and until it ends', async () => {
	const each = counter(), heard = []
	assert.equal(await each.client.value('visitors'), 1)
	await until(() => each.said('unsubscribe').length === 1)
	const off = await each.client.value('visitors', (value, name) => heard.push([value, name]))
	assert.deepEqual(heard, [[1, 'visitors']])
	assert.deepEqual(each.said('subscribe').at(-1).data, ['visitors', { value: true }])
	assert.deepEqual(await each.client.set('visitors', [2]), [2])
	each.set(3)
	each.set(3)
	assert.deepEqual(heard.map(([value]) => value), [1, [2], 3])
	await off()
	each.set(4)
	assert.equal(heard.length, 3)
	each.client.close()
	await assert.rejects(each.client.value('visitors'), { code: 'connectionLost' })
	await assert.rejects(each.client.value('visitors', () => {}), { code: 'connectionLost' })
})

test('a value that changed while there was no connection', async () => {
	const each = counter(), heard = [], others = []
	await each.client.value('visitors', value => heard.push(value))
	const off = await each.client.value('visitors', value => others.push(value))
	await off()
	for (const value of [1, 7]) {
		const asked = each.said('visitors').length
		each.away = true
		each.socket.close()
		await until(() => each.client.state === 'waiting')
		each.set(value)
		each.away = false
		await until(() => each.said('visitors').length === asked + 1)
		await turn()
	}
	assert.deepEqual([heard, others], [[1, 7], [1]])
	each.client.close()
})

test('what is asked because of a lease is answered, and is no event', async () => {
	const { client, all } = device(), sent = []
	await client.call('ping')
	all[0].send = line => sent.push(line)
	client.mapCommandToVCF('default', () => assert.fail('an event'))
	all[0].say({ lease: true })
	assert.deepEqual(sent, [''])
	client.close()
})

test('wrong words are refused: no value, no function, nothing to set', async () => {
	const each = counter(), { client } = each
	await assert.rejects(client.value('stop'), { code: 'notFound' })
	await assert.rejects(client.value('stop', () => {}), { code: 'notFound' })
	assert.equal(each.said('stop').length, 0, 'a command is not run by that')
	for (const word of ['on', 'value', 'handle']) {
		for (const run of [undefined, null, 7, 'f']) await assert.rejects(client[word]('visitors', run), { name: 'TypeError', message: /needs a function, not/ })
	}
	for (const value of [undefined, null, NaN, Infinity, () => {}]) {
		await assert.rejects(client.set('visitors', value), { name: 'TypeError', message: /visitors cannot be set to/ })
	}
	for (const word of ['value', 'add', 'handle', 'post']) {
		await assert.rejects(client[word]('visitors', () => {}, { for: '3s' }), { name: 'TypeError', message: word + ' takes 2 arguments' })
	}
	await assert.rejects(client.set('visitors', true, { for: '3s' }), {
		name: 'TypeError', message: 'a value with options is a call: quickconnect.call("visitors",true,{"for":"3s"})',
	})
	assert.deepEqual(each.said('visitors'), [])
	client.close()
})

test('options of callWith that are none are refused, and nothing is sent', async () => {
	const each = device()
	for (const [options, told] of [
		[1000, '1000'], ['motor', '"motor"'], [undefined, 'undefined'], [null, 'null'], [[], '[]'], [{ timout: 1000 }, '{"timout":1000}'],
		[{ timeout: '1s' }, '{"timeout":"1s"}'], [{ timeout: -1 }, '{"timeout":-1}'], [{ timeout: NaN }, '{"timeout":null}'],
		[{ timeout: 2 ** 31 }, '{"timeout":2147483648}'], [{ timeout: 5, signal: 1 }, '{"timeout":5,"signal":1}'],
	]) {
		await assert.rejects(each.client.callWith(options, 'motor', 50), {
			name: 'TypeError', message: 'callWith takes {timeout: milliseconds}, not ' + told,
		})
	}
	assert.equal(each.all.length, 0)
	each.client.close()
})

test('post and handle', async () => {
	const each = device(({ handlerName, data }) => handlerName === 'registerHandler' && data[0] === 'mine' ? refused('busy') : null)
	const { client } = each
	await client.post('doorbell', { door: 'front' })
	await client.post('doorbell')
	assert.deepEqual(each.said('post').map(({ data }) => data), [['doorbell', { door: 'front' }], ['doorbell', null]])
	await assert.rejects(client.handle('mine', () => 1), { code: 'busy' })
	await client.handle('rings', (data, call) => { call.end = true; return [data, call.phase] })
	await client.handle('nothing', () => {})
	for (const name of ['rings', 'nothing']) each.socket.say({ handlerName: name, data: 3, callbackId: name, phase: 'business' })
	const answer = id => each.socket.lines.find(({ responseId }) => responseId === id)
	await until(() => answer('rings') && answer('nothing'))
	assert.deepEqual(answer('rings'), { responseId: 'rings', responseData: [3, 'business'], end: true })
	assert.deepEqual(answer('nothing'), { responseId: 'nothing', responseData: null })
	client.close()
})

test('a VCF on a value always gets its event, whatever is called', async () => {
	for (const first of ['call', 'map']) {
		const each = counter(), heard = []
		if (first === 'call') await each.client.makeCall('visitors')
		each.client.mapCommandToVCF('visitors', (data, value) => { heard.push(value) })
		each.client.mapCommandToVCF('echo', () => {})
		if (first === 'map') await Promise.all([each.client.makeCall('visitors'), each.client.makeCall('echo', 1)])
		await until(() => each.said('subscribe').some(({ data }) => data[0] === 'visitors'))
		await turn()
		each.set(2)
		assert.equal(heard.at(-1), 2, first)
		assert.equal(each.said('unsubscribe').some(({ data }) => data[0] === 'visitors'), false)
		each.client.close()
	}
})

test("one listener's mistake stops no other", async () => {
	const each = device()
	let heard = 0
	await each.client.on('x', () => { throw new Error('mine') })
	await each.client.on('x', () => heard++)
	const [original, later] = [setTimeout, []]
	globalThis.setTimeout = run => later.push(run)
	each.socket.say({ handlerName: 'x', data: 1 })
	globalThis.setTimeout = original
	assert.equal(heard, 1)
	assert.throws(later[0], /mine/)
	each.client.close()
})

test('a lost connection: calls under way fail, others, handlers and events go on', async () => {
	const each = device(({ handlerName, data }) => handlerName === 'slow' ? undefined : data ?? null)
	const { client } = each
	client.registerHandler('brighten', data => data)
	await client.on('news', () => {}, { all: true })
	const slow = client.makeCall('slow').catch(({ code }) => code)
	await until(() => each.said('slow').length === 1)
	each.socket.close()
	assert.equal(await slow, 'connectionLost')
	assert.equal(client.state, 'waiting')
	assert.equal(await client.makeCall('echo', 7), 7)
	assert.equal(each.all.length, 2)
	assert.equal(each.said('slow').length, 1, 'no call is sent twice')
	assert.deepEqual(each.all[1].lines.map(({ handlerName }) => handlerName), ['registerHandler', 'subscribe', 'echo'])
	assert.deepEqual(each.all[1].lines[1].data, ['news', { all: true }])
	client.close()
})

test('a call that waits longer than its timeout is never sent, one under way is cancelled', async () => {
	const each = device(({ handlerName }) => handlerName === 'slow' ? undefined : null)
	const { client } = each
	each.away = true
	await assert.rejects(client.callWith({ timeout: 5 }, 'motor', true), { code: 'timeout', cmd: 'motor' })
	each.away = false
	client.wake()
	assert.equal(await client.callWith({ timeout: 10000 }, 'echo', 1), null)
	await assert.rejects(client.callWith({ timeout: 5 }, 'slow'), { code: 'timeout' })
	assert.equal(await client.callWith({}, 'echo', 2), null)
	assert.deepEqual(each.said('motor'), [])
	assert.deepEqual(each.said('cancel')[0].data, [each.said('slow')[0].callbackId])
	each.socket.say({ responseId: each.said('slow')[0].callbackId, error: { code: 'cancelled', message: 'cancelled' } })
	client.close()
})

test('a page that is logged out is loaded again, once, or tells its watcher', async () => {
	const { fetch, location } = globalThis
	let status = 200, reloads = 0
	Object.assign(globalThis, { fetch: async () => ({ status }), location: { reload: () => reloads++ } })
	for (const watches of [false, true]) {
		const each = device(() => null, {}), { client } = each, states = []
		client.base = 'http://127.0.0.1/'
		if (watches) client.watch(state => states.push(state))
		status = 200
		await client.call('ping')
		each.socket.close()
		await until(() => each.all.length === 2 && client.state === 'connected')
		assert.equal(reloads, 0)
		each.away = true
		status = 401
		each.socket.close()
		await until(() => watches ? states.at(-1) === 'loggedOut' : reloads)
		client.close()
		assert.equal(reloads, watches ? 0 : 1)
		reloads = 0
	}
	const other = device(() => null, {})
	other.client.base = 'http://127.0.0.1/'
	other.away = true
	other.client.call('ping').catch(() => {})
	await until(() => other.client.state === 'waiting')
	await turn()
	assert.equal(reloads, 0, 'one that has never been connected is not')
	other.client.close()
	Object.assign(globalThis, { fetch, location })
})

test('it becomes more patient, and wakes at once when told to', async () => {
	const each = device()
	each.away = true
	const states = []
	each.client.watch(state => states.push(state))
	const reply = each.client.makeCall('ping')
	await until(() => each.all.length >= 3 && each.client.state === 'waiting')
	const count = each.all.length
	each.away = false
	each.client.wake()
	assert.equal(each.all.length, count + 1)
	assert.equal(await reply, null)
	assert.equal(states.at(-1), 'connected')
	each.client.close()
	assert.equal(states.at(-1), 'closed')
})

test('a handler answers by its callback, by what it returns, or by what it throws', async () => {
	const each = device()
	const { client } = each
	client.registerHandler('callback', (data, done) => { setTimeout(done, 1, data + 1); return 7 })
	client.registerHandler('value', data => data + 2)
	client.registerHandler('promise', async data => data + 3)
	client.registerHandler('nothing', () => {})
	client.registerHandler('both', async (data, done) => { done(data + 4) })
	client.registerHandler('named', (data, done, call) => { call.replyCommand = 'showLamp'; call.end = true; done(call.phase) })
	client.registerHandler('refuses', () => { throw Object.assign(new Error('no bulb'), { code: 'unavailable', field: '/0' }) })
	await client.makeCall('ping')
	const names = ['callback', 'value', 'promise', 'nothing', 'both', 'named', 'refuses', 'gone']
	const original = console.error
	console.error = () => {}
	for (const name of names) each.socket.say({ handlerName: name, data: 1, callbackId: name, phase: 'business' })
	const answers = () => Object.fromEntries(each.socket.lines.filter(({ responseId }) => responseId).map(({ responseId, ...rest }) => [responseId, rest]))
	await until(() => Object.keys(answers()).length === names.length)
	console.error = original
	const { gone, ...others } = answers()
	assert.match(gone.error.message, /no handler 'gone'/)
	assert.deepEqual(others, {
		callback: { responseData: 2 }, value: { responseData: 3 }, promise: { responseData: 4 }, nothing: { responseData: null },
		both: { responseData: 5 }, named: { responseData: 'business', handlerName: 'showLamp', end: true },
		refuses: { error: { code: 'unavailable', field: '/0', message: 'no bulb' } },
	})
	client.close()
})

test('a handler whose name is busy is asked for again', async () => {
	let tries = 0
	const each = device(({ handlerName }) => handlerName === 'registerHandler' && ++tries === 1 ? refused('busy') : null)
	each.client.registerHandler('brighten', () => {})
	await until(() => tries === 2)
	each.client.removeHandler('brighten')
	await until(() => each.said('removeHandler').length === 1)
	each.client.close()
})

test('a warning of a handler, and a name that a reload has taken, are in the console', async () => {
	const { client, all } = device(({ handlerName }) => handlerName === 'registerHandler' ? { warning: 'nobody can call it' } : null)
	const original = console.warn
	const warned = []
	console.warn = text => warned.push(text)
	await client.handle('rings', () => 1)
	client.registerHandler('brighten', () => {})
	await until(() => warned.length === 2)
	all[0].say({ error: { cmd: 'registerHandler', code: 'denied', message: 'not any more' } })
	console.warn = original
	assert.deepEqual(warned, ['nobody can call it', 'nobody can call it', 'registerHandler: not any more'])
	client.close()
})

test('callHandler: with and without data, with an error as second argument', async () => {
	const { client, said } = device(({ handlerName, data }) => handlerName === 'bad' ? refused('denied') : data ?? 'none')
	const heard = await Promise.all([
		new Promise(resolve => client.bridge.callHandler('a', { foo: 'bar' }, resolve)),
		new Promise(resolve => client.bridge.callHandler('a', resolve)),
		new Promise(resolve => client.bridge.callHandler('bad', null, (value, error) => resolve([value, error.code]))),
	])
	assert.deepEqual(heard, [{ foo: 'bar' }, 'none', [null, 'denied']])
	client.bridge.disableJavscriptAlertBoxSafetyTimeout()
	client.bridge._handleMessageFromObjC('{"handlerName":"x"}')
	assert.equal(client.bridge._fetchQueue(), '[]')
	assert.equal(said('a').length, 2)
	client.close()
})

test('what is no answer of a device does no harm', async () => {
	const each = device()
	await each.client.makeCall('ping')
	const original = console.warn
	const warned = []
	console.warn = text => warned.push(text)
	each.socket.onmessage({ data: 'overloaded\n' })
	console.warn = original
	assert.equal(warned.length, 1)
	each.socket.say({ responseId: 'nobody', responseData: 1 })
	each.socket.say({ error: { cmd: 'subscribe', code: 'denied', message: 'not any more' } })
	assert.equal(await each.client.makeCall('ping'), null)
	each.client.close()
})

test('without a WebSocket class it says so', () => {
	assert.throws(() => connect({ url: 'ws://x/', WebSocket: 7 }).watch(() => {}), TypeError)
})

test('a connection that has died without a word is given up', async context => {
	context.mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
	const flush = async () => { for (let count = 0; count < 20; count++) await new Promise(resolve => setImmediate(resolve)) }
	const each = device(({ handlerName }) => handlerName === 'ping' && each.isDead ? undefined : handlerName === 'slow' ? undefined : null)
	const slow = each.client.makeCall('slow').catch(({ code }) => code)
	await flush()
	context.mock.timers.tick(45000)
	await flush()
	assert.equal(each.client.state, 'connected', 'it answers, however long a call takes')
	each.isDead = true
	for (let count = 0; count < 4; count++) {
		context.mock.timers.tick(15000)
		await flush()
	}
	assert.equal(await slow, 'connectionLost')
	assert.ok(each.all.length > 1)
	each.client.close()
})

test('each error on a page that tells to write a list has what the others add to it', async () => {
	const shown = [], element = () => ({ append(...children) { this.textContent = children.join('') } })
	globalThis.document = { createElement: element, querySelectorAll: () => shown }
	const { tell } = await import('data:text/javascript,' + encodeURIComponent(readFileSync(new URL('../../pages/elements.js', import.meta.url), 'utf8')))
	const place = { replaceChildren: (sentence, text) => shown.push(text) }
	for (const name of ['state', 'doctor']) tell(place, { code: 'denied', message: `the line «commands: [hello, ${name}]» there would allow it` })
	tell(place, { code: 'busy', message: 'later' })
	const line = 'the line «commands: [doctor, hello, state]» there would allow it'
	assert.deepEqual(shown.map(({ textContent }) => textContent), [line, line, 'later'])
	delete globalThis.document
})
