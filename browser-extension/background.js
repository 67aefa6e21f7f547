// SPDX-License-Identifier: Apache-2.0
// Runs actions in pages. The native host, quickconnect-actions, says what may run where, and has the text of the actions. This
// script asks it, and runs what it gets.
const api = globalThis.browser ?? chrome
const resultsKey = 'NSExtensionJavaScriptPreprocessingResultsKey'
const argumentKey = 'NSExtensionJavaScriptFinalizeArgumentKey'

// The native host. While it runs, the browser does not end this worker, so what is under way is not lost.

let port, lastNumber = 0
const waiting = new Map()

function connect() {
	port = api.runtime.connectNative('quickconnect_actions')
	port.onMessage.addListener(({ id, value, error }) => {
		const asker = waiting.get(id)
		waiting.delete(id)
		if (error) asker?.reject(error)
		else asker?.resolve(value)
	})
	port.onDisconnect.addListener(gone => {
		const reason = gone.error?.message ?? api.runtime.lastError?.message ?? 'it has ended'
		port = undefined
		const error = { code: 'unavailable', message: `The program quickconnect-actions does not answer: ${reason}` }
		for (const asker of waiting.values()) asker.reject(error)
		waiting.clear()
	})
}

// The host skips a longer message, and then does not know which request to answer.
const mostBytes = 1 << 20

function ask(verb, page, more) {
	const id = ++lastNumber, message = { id, verb, page, ...more }
	return new Promise((resolve, reject) => {
		if (new TextEncoder().encode(JSON.stringify(message)).length > mostBytes) throw { code: 'tooLarge', message: 'This is more than a mebibyte.' }
		if (!port) connect()
		waiting.set(id, { resolve, reject })
		port.postMessage(message)
	})
}

// Scripts in pages

let isConfigured = false

async function execute(target, world, code) {
	if (!api.userScripts?.execute) throw { code: 'denied', message: 'The browser does not let this extension run scripts yet.' }
	if (!isConfigured) await api.userScripts.configureWorld({ messaging: true })
	isConfigured = true
	const [{ result, error } = {}] = await api.userScripts.execute({ target, world, js: [{ code }] })
	if (error) throw { code: 'scriptFailed', message: error.message ?? String(error) }
	return result
}

/** The value in the answer of an action's world. */
function valueIn(text) {
	const answer = typeof text === 'string' ? JSON.parse(text) : undefined
	if (!answer) throw { code: 'scriptFailed', message: 'The page has given no answer: it may have been left.' }
	if (answer.changed) throw { code: 'cancelled', message: 'The page has changed since the action was chosen: nothing was run, and your text is kept.' }
	if (answer.error) throw answer.error
	return answer.value
}

// Runs: an action from when it is chosen until its view is closed.

const runs = new Map()

async function begin({ tab: tabId, action }) {
	const { url: page = '' } = await api.tabs.get(tabId)
	const token = crypto.randomUUID()
	const run = { token, tabId, page, action }
	runs.set(token, run)
	try {
		const code = await ask('run', page, { action, token })
		const { results, finalizes } = valueIn(await execute({ tabId }, 'USER_SCRIPT', code))
		run.dictionary = { [resultsKey]: results }
		run.view = finalizes ? 'editor' : typeof results.text === 'string' ? 'text' : 'none'
	} catch (error) {
		await end(run, 'failed', error)
		throw error
	}
	if (run.view === 'none') await end(run, 'done')
	else await openView(run)
	return { view: run.view }
}

async function openView(run) {
	const url = api.runtime.getURL('view.html') + '?run=' + run.token
	// Next to the page's tab: the browser returns to it when this one is closed.
	const { index } = await api.tabs.get(run.tabId)
	const opened = await api.tabs.create({ url, index: index + 1, openerTabId: run.tabId })
	run.viewTab = opened.id
}

async function end(run, state, error) {
	runs.delete(run.token)
	await ask('ended', run.page, { action: run.action, state, message: error?.message }).catch(() => {})
}

async function focus(tabId) {
	const { windowId } = await api.tabs.update(tabId, { active: true })
	await api.windows?.update(windowId, { focused: true })
}

const views = {
	async open(run) {
		const scripts = run.view === 'editor' ? await ask('scripts', run.page, { action: run.action }) : undefined
		return { action: run.action, view: run.view, dictionary: run.dictionary, scripts }
	},
	// In the kiosk, the window takes its title from this; here, the tab has its own.
	shown() {},
	async done(run, message) {
		const { action, page, token, tabId, viewTab } = run
		const argument = message[argumentKey]
		const text = String(argument.customJavaScript)
		await ask('save', page, { action, name: '', text })
		// A mistake in it is reported before anything runs.
		await ask('evaluate', page, { action, text })
		try {
			const code = await ask('finalize', page, { action, argument, token })
			await focus(tabId).catch(() => { throw { code: 'cancelled', message: 'The page was closed: nothing was run, and your text is kept.' } })
			valueIn(await execute({ tabId }, 'USER_SCRIPT', code))
		} catch (error) {
			if (viewTab !== undefined) await focus(viewTab).catch(() => {})
			throw error
		}
		await end(run, 'done')
		closeView(run)
	},
	async cancel(run, { text }) {
		if (run.view === 'editor') await ask('save', run.page, { action: run.action, name: '', text }).catch(() => {})
		await end(run, run.view === 'editor' ? 'cancelled' : 'done')
		closeView(run)
	},
	save: (run, { name, text }) => ask('save', run.page, { action: run.action, name, text }),
}

// After its answer has been sent.
function closeView({ viewTab }) {
	if (viewTab !== undefined) setTimeout(() => api.tabs.remove(viewTab).catch(() => {}), 50)
}

api.tabs.onRemoved.addListener(tabId => {
	for (const run of runs.values()) if (run.viewTab === tabId) end(run, 'cancelled')
})

const menu = {
	async list({ tab }) {
		const { url = '', title = '' } = await api.tabs.get(tab)
		return { ...await ask('list', url), title, mayRun: Boolean(api.userScripts?.execute) }
	},
	begin,
}

// Messages from the menu and the views, and from the world that actions run in.

const answer = (work, respond) => {
	Promise.resolve().then(work).then(value => respond({ value: value ?? null }), error => {
		respond({ error: { code: error.code ?? 'internal', ...error, message: error.message ?? String(error) } })
	})
	return true
}

api.runtime.onMessage.addListener((message, sender, respond) => answer(() => {
	if (Object.hasOwn(menu, message.verb)) return menu[message.verb](message)
	const run = runs.get(message.run)
	if (!run) throw { code: 'cancelled', message: 'The browser has forgotten this action. Copy your text, and choose the action again.' }
	if (!Object.hasOwn(views, message.verb)) throw { code: 'badRequest', message: `There is no verb ${message.verb}.` }
	run.viewTab ??= sender.tab?.id
	return views[message.verb](run, message)
}, respond))

// The world of an action receives texts.
const listenToWorlds = () => api.runtime.onUserScriptMessage?.addListener((text, sender, respond) => {
	answer(async () => {
		const { token, verb, text: script, command, message } = JSON.parse(text)
		const run = runs.get(token)
		if (!run || run.tabId !== sender.tab?.id || sender.frameId) throw { code: 'cancelled', message: 'This action has ended.' }
		const { action, page, tabId } = run
		if (verb === 'call') return ask('call', page, { action, command, message })
		if (verb !== 'evaluate') throw { code: 'badRequest', message: `There is no verb ${verb}.` }
		const code = await ask('evaluate', page, { action, text: script })
		const failed = await execute({ tabId }, 'MAIN', code)
		if (failed?.quickconnectMistake) throw failed.quickconnectMistake
		return null
	}, value => respond(JSON.stringify(value)))
	return true
})
// In Firefox it exists only after the user has allowed scripts.
listenToWorlds()
api.permissions?.onAdded?.addListener(({ permissions }) => { if (permissions?.includes('userScripts')) listenToWorlds() })
