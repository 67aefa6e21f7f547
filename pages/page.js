// SPDX-License-Identifier: Apache-2.0
// What all pages share: their head, how they show errors, and small tools. Load quickconnect.js before it.
import { make, placeOf, tell } from './elements.js'

export * from './elements.js'
export const device = window.quickconnect
/** An address relative to this file: only the browser knows the path under which a proxy shows it. */
const at = address => new URL(address, import.meta.url).href

/** What buttons and sliders call: element → function that gives `['playSound', 0]`, or the name of the event that they hear. */
export const calls = new WeakMap()

/** Runs `work` for a button: shows that the button is busy, and shows errors in `.says` of its card. `call`: what it calls (`calls`). */
export function onPress(button, work, call) {
	if (call) calls.set(button, call)
	button.addEventListener('click', async event => {
		if (button.getAttribute('aria-busy') === 'true') return
		const says = placeOf(button)
		says.replaceChildren()
		// Show it only if it takes a while.
		const timer = setTimeout(() => button.setAttribute('aria-busy', 'true'), 150)
		try {
			await work(event)
		} catch (error) {
			if (error.code !== 'cancelled') tell(says, error)
		} finally {
			clearTimeout(timer)
			button.removeAttribute('aria-busy')
		}
	})
}

/** For a button that only makes a call, which `call` gives; `then` takes the answer. */
export const onCall = (button, call, then = () => {}) => onPress(button, async () => then(await device.call(...call())), call)

/** Seconds in a readable form: 1:05. */
export function clock(seconds) {
	const whole = Math.max(0, Math.floor(seconds))
	const minutes = Math.floor(whole / 60)
	return `${minutes}:${String(whole % 60).padStart(2, '0')}`
}

export function bytes(count) {
	if (count < 1000) return count + ' B'
	return count < 1e6 ? (count / 1000).toFixed(1) + ' kB' : (count / 1e6).toFixed(1) + ' MB'
}

/** Runs `work` once for all calls within a moment. */
export function soon(work, milliseconds = 50) {
	let timer
	// The first call starts the time: events without end must not put it off for ever.
	return () => {
		timer ??= setTimeout(() => {
			timer = undefined
			work()
		}, milliseconds)
	}
}

/** Runs `work` after each new connection, and now if there is one. */
export function whenConnected(work) {
	let was = false
	device.watch(state => {
		const is = state === 'connected'
		if (is && !was) work()
		was = is
	})
}

/** Subscribes; shows a refusal in `place`, in plain words. */
export function listen(name, listener, options, place) {
	return device.on(name, listener, options).catch(error => {
		if (place) tell(place, error)
		return undefined
	})
}

/** Whether one may call a command, without calling it. */
export const may = async name => Boolean((await device.call('can', name).catch(() => ({}))).allowed)

/** Who is logged in here: {user, groups, …}; null if nobody is. */
export const session = fetch(at('session'), { cache: 'no-store' }).then(answer => answer.ok ? answer.json() : null).catch(() => null)

const pages = [['./', 'Devices'], ['macros.html', 'Macros'], ['procedures.html', 'Procedures'], ['state.html', 'State']]

function head() {
	const here = location.pathname.replace(/index\.html$/, '')
	const links = pages.map(([address, name]) => {
		const isHere = new URL(at(address)).pathname === here
		return make('li', {}, make('a', { href: at(address), 'aria-current': isHere && 'page' }, name))
	})
	const link = make('span', { class: 'link', id: 'link', role: 'status', 'data-state': 'connecting' }, 'Connecting …')
	const out = make('button', { class: 'plain', id: 'logout', type: 'button', onclick: logOut, hidden: true }, 'Log out')
	const head = make('header', { class: 'head' }, make('strong', {}, 'QuickConnect'),
		make('nav', { 'aria-label': 'Pages' }, make('ul', {}, ...links)), make('div', { class: 'who' }, link, out))
	document.body.prepend(make('a', { class: 'skip', href: '#content' }, 'Skip to the content'), head)
	head.querySelector('[aria-current]')?.scrollIntoView({ inline: 'center', block: 'nearest' })
	session.then(person => {
		if (!person) return
		out.hidden = false
		out.title = 'Logged in as ' + nameOf(person)
	})
	device.watch(state => showLink(link, state))
}

export const nameOf = person => person.user || person.name || 'somebody'

function showLink(link, state) {
	link.dataset.state = state
	const text = state === 'connected' ? 'Connected' : state === 'closed' ? 'Closed' : 'Connecting …'
	if (link.textContent !== text) link.textContent = text
	if (state === 'waiting') askWhy()
	if (state === 'connected') showBanner()
}

// A browser does not tell a page why its connection was refused.
async function askWhy() {
	const answer = await fetch(at('session'), { cache: 'no-store' }).catch(() => undefined)
	if (device.state === 'connected') return
	if (!answer) return showBanner('The device does not answer. This page continues as soon as it does.')
	if (answer.status !== 401) return showBanner('The device is restarting. This page continues automatically.')
	const back = encodeURIComponent(location.pathname + location.search)
	showBanner('You are logged out. ', make('a', { href: at('login.html?next=') + back }, 'Log in again'))
}

let banner

function showBanner(...content) {
	if (!content.length) {
		banner?.remove()
		banner = undefined
		return
	}
	if (!banner) {
		banner = make('p', { class: 'banner', role: 'alert' })
		document.querySelector('.head').after(banner)
	}
	if (banner.textContent !== content.map(each => each.textContent ?? each).join('')) banner.replaceChildren(...content)
}

/** Ends the session. */
export async function logOut() {
	device.close()
	await fetch(at('logout'), { method: 'POST' }).catch(() => {})
	location.assign(at('login.html'))
}

head()
