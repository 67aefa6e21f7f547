// SPDX-License-Identifier: Apache-2.0
// What the device refuses, and the mistakes of the page's scripts, are told in the page, for its author (docs/web.md). quickconnect.js loads this at the first.
import { mergeLists } from './elements.js'

const isForAuthors = fetch(new URL('session', import.meta.url)).then(answer => answer.json()).then(({ refusals }) => refusals, () => false)
const said = new Set()
let place

/**
 * Shows what was blocked or failed, and an error of a call or a subscription: a list of the gateway's that lacks it always, anything else if the page left it unhandled.
 * `isOwn` tells whether the page itself has a business function of a name; without it the error is unhandled.
 */
export async function show(what, isOwn) {
	let { cmd, code, message, rule = '' } = what.reason?.cmd ? what.reason : what
	if (what.early) message = await tooEarly(what.early)
	if (what.blockedURI) message = blocked(what)
	if (what.type === 'error') message = what.lineno ? thrown(what) : missing(what.target)
	if (what.type === 'unhandledrejection') message ||= rejected(what.reason)
	// quickconnect.js itself logs mistakes of the page.
	if (!message || said.has(message) || said.size > 50 || cmd === 'logMessage') return
	const event = /^the event '(.*?)': /.exec(message)?.[1]
	if (isOwn && (!rule.startsWith('the commands of the socket ') || event && isOwn(event))) return
	said.add(message)
	if (!await isForAuthors) return
	place ||= makePlace()
	const line = document.createElement('p')
	line.textContent = code === 'denied' ? `Refused: ${message}${message.endsWith('?') ? '' : '.'}` : cmd ? `${cmd}: ${message}` : message
	line.style.cssText = 'margin: 0 2em .5em 0; overflow-wrap: anywhere'
	place.append(line)
	mergeLists()
}

/** What the Content-Security-Policy of the pages has kept out (docs/web.md). */
function blocked({ blockedURI, effectiveDirective, sourceFile, lineNumber }) {
	const noun = /^(script|style)/.exec(effectiveDirective)?.[1] ?? 'text', place = sourceFile ? ` (${sourceFile}:${lineNumber})` : ''
	if (blockedURI === 'inline') return `An inline ${noun} is blocked${place}: put it into a file of its own, or set «web: {inlineScripts: true}» in the settings.`
	if (/eval$/.test(blockedURI)) return `eval and new Function are blocked${place}, and so is a text for setTimeout: pages run only the code in their files.`
	return /^(data|blob)/.test(blockedURI)
		? `An address of ${/^\w+/.exec(blockedURI)[0]}: is blocked${place}: put what it holds into a file of its own.`
		: `${blockedURI} is blocked${place}: pages load nothing from elsewhere.`
}

/** A script that ran before quickconnect.js and has words of it, where nothing has used it: it stopped at the first of them, which nothing hears. */
async function tooEarly(scripts) {
	const index = scripts.findIndex(each => /\/quickconnect\.js$/.test(each.src))
	for (const { src } of scripts.slice(0, Math.max(0, index)).filter(each => each.src && !/module|json/.test(each.type) && !each.defer && !each.async)) {
		const text = await fetch(src).then(answer => answer.text(), () => '')
		if (/\b(quickconnect|makeCall|mapCommandTo\w+|WebViewJavascriptBridge)\b/.test(text)) return `${src} runs before quickconnect.js, which it uses: put <script src="quickconnect.js"></script> before it.`
	}
}

/** A script or style of this device that could not be loaded; what else is missing is seen. */
function missing({ localName, type, src, href = src || location.href }) {
	const others = type === 'module' ? ', and of each that it imports,' : ''
	const isOwn = /^(script|link)$/.test(localName) && href.startsWith(location.origin)
	return isOwn && `${href} cannot be loaded: is there a file of that name${others} in the pages folder?`
}

/** What a script of the page has thrown, and nothing has caught; eval is told as blocked. */
function thrown({ message, filename, lineno, error }) {
	return !(error instanceof EvalError) && `${message} (${placeOf(error) ?? `${filename}:${lineno}`})`
}

/** Where the page's own script was: FILE:LINE, or nothing. */
function placeOf(error) {
	return String(error?.stack).match(/\bhttps?:[^\s()]+:\d+(?=:\d+)/g)?.find(each => !/\/quickconnect\.m?js:/.test(each))
}

function rejected(reason) {
	const place = placeOf(reason)
	return `Unhandled ${reason}` + (place ? ` (${place})` : '')
}

function makePlace() {
	const element = document.createElement('aside'), close = document.createElement('button')
	element.id = 'quickconnect-refused'
	element.setAttribute('role', 'alert')
	element.style.cssText = 'position: fixed; z-index: 2147483647; inset: auto 0 0 0; max-height: 40vh; overflow: auto; padding: .7em 1em .2em; '
		+ 'background: #8a1510; color: #fff; font: 14px/1.4 system-ui, sans-serif; text-align: left'
	close.textContent = '×'
	close.setAttribute('aria-label', 'Close')
	close.style.cssText = 'position: absolute; top: .3em; right: .5em; min-height: 0; border: 0; background: none; color: #fff; font: 22px/1 sans-serif; cursor: pointer'
	close.onclick = () => {
		said.clear()
		element.remove()
		place = undefined
	}
	element.append(close)
	document.documentElement.append(element)
	return element
}
