// SPDX-License-Identifier: Apache-2.0
// The log-in page: accepts a typed token, or the code that «quickconnect web open» prints in the address's fragment.
const form = document.getElementById('form'), token = document.getElementById('token')
const says = document.getElementById('says'), enter = document.getElementById('enter')

const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)
document.getElementById('plain').hidden = location.protocol === 'https:' || isLocal

async function logIn(secret) {
	enter.setAttribute('aria-busy', 'true')
	says.textContent = ''
	try {
		const answer = await fetch('login', {
			method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(secret),
		})
		if (answer.ok) return location.replace(next())
		const { message } = await answer.json().catch(() => ({}))
		refuse(answer.status === 429 ? 'Too many tries. ' : secret.code ? 'This address has been used, or is too old. ' : 'That is not a token of this device. ', message)
	} catch {
		refuse('The device does not answer. Is it switched on, and on this network?')
	} finally {
		enter.removeAttribute('aria-busy')
	}
}

function refuse(sentence, message) {
	says.replaceChildren(sentence, ...(message ? [Object.assign(document.createElement('small'), { textContent: message })] : []))
	token.select()
	token.focus()
}

// Where to go after the log-in: to a page of this device, else to the first one.
function next() {
	const wanted = new URL(new URLSearchParams(location.search).get('next') || './', location.href)
	return wanted.origin === location.origin && wanted.pathname !== location.pathname ? wanted.href : './'
}

form.addEventListener('submit', event => {
	event.preventDefault()
	if (token.value.trim()) logIn({ token: token.value.trim() })
})

function logInByFragment() {
	const fragment = new URLSearchParams(location.hash.slice(1))
	const code = fragment.get('code'), given = fragment.get('token')
	if (!code && !given) return token.focus()
	// It must not stay in the browser's history.
	history.replaceState(null, '', location.pathname + location.search)
	logIn(code ? { code } : { token: given })
}

addEventListener('hashchange', logInByFragment)
logInByFragment()
