// Runs an action in a page's document, in its own world. `host` sends a text to the program and promises its answer;
// `load` creates the action. It gets a replacement for eval, and makeCall.
async (host, given, load) => {
	const scripts = []
	const ask = async message => {
		const answer = JSON.parse(await host(JSON.stringify({ token: given.token, ...message })))
		if (answer.error) throw Object.assign(new Error(answer.error.message), { quickconnect: answer.error })
		return answer.value ?? null
	}
	// A page's Content-Security-Policy may forbid eval, and a script should see the page's own variables.
	const evaluate = text => {
		const script = ask({ verb: 'evaluate', text: String(text) })
		scripts.push(script)
		script.catch(() => {})
		return script
	}
	const makeCall = (command, message) => ask({ verb: 'call', command: String(command), message: message ?? null })
	const mistake = error => {
		if (error?.quickconnect) return { code: 'scriptFailed', ...error.quickconnect }
		const place = /Action\.js:(\d+):(\d+)/.exec(error?.stack ?? '')
		const line = Number(place?.[1] ?? error?.line ?? error?.lineNumber) || undefined
		const column = Number(place?.[2] ?? error?.column ?? error?.columnNumber) || undefined
		return { code: 'scriptFailed', message: String(error), source: 'Action.js', line, column }
	}
	const answer = async work => {
		try {
			return JSON.stringify({ value: await work() ?? null })
		} catch (error) {
			return JSON.stringify({ error: mistake(error) })
		}
	}
	const within = (promise, seconds, what) => Promise.race([promise, new Promise((_, reject) => {
		setTimeout(() => reject(new Error(`${what} took longer than ${seconds} s`)), seconds * 1000)
	})])
	return answer(async () => {
		// The page may have been left since the program was asked whether the action may run there.
		if (location.protocol + '//' + location.host !== given.site) return Promise.reject({ quickconnect: { code: 'cancelled', message: 'the page has changed: nothing was run' } })
		const action = load(evaluate, makeCall)
		if (typeof action?.run !== 'function') throw new Error('Action.js has no ExtensionPreprocessingJS with a function run')
		// It belongs to this document; another document does not know it.
		globalThis.quickconnectAction = {
			token: given.token,
			finalize: argument => answer(async () => {
				scripts.length = 0
				await action.finalize(argument)
				await Promise.all(scripts)
			}),
		}
		const results = await within(new Promise((resolve, reject) => {
			Promise.resolve(action.run({ completionFunction: resolve })).catch(reject)
		}), given.seconds, 'run, until it called completionFunction,')
		return { results: results ?? {}, finalizes: typeof action.finalize === 'function' }
	})
}
