// SPDX-License-Identifier: Apache-2.0
// The extension's menu: the actions that may run on this page, and how to allow the others.
import { $, make, placeOf, tell } from './elements.js'

const api = globalThis.browser ?? chrome
const says = placeOf($('actions'))

async function ask(verb, more) {
	const { value, error } = await api.runtime.sendMessage({ verb, ...more })
	if (error) throw error
	return value
}

/** The page that the menu is for: the one in its window, or the one that `?tab=` names. */
async function currentTab() {
	const named = new URLSearchParams(location.search).get('tab')
	if (named) return Number(named)
	const [tab] = await api.tabs.query({ active: true, currentWindow: true })
	return tab.id
}

async function show() {
	const tab = await currentTab()
	const { site, actions, mayRun } = await ask('list', { tab })
	$('site').textContent = site ?? 'no site'
	$('allow').hidden = mayRun
	if (!mayRun) explain()
	const rows = actions.map(action => make('li', {}, row(action, site, tab, mayRun)))
	$('actions').replaceChildren(...rows)
	if (!rows.length) $('actions').append(make('li', { class: 'empty' }, 'There are no actions on this device.'))
}

function row({ name, isAllowed, problem }, site, tab, mayRun) {
	if (problem) return make('div', {}, name, make('small', {}, `It does not run: ${problem}`))
	if (!isAllowed) {
		const remedy = site ? make('small', {}, 'Off here. To allow it: ', make('code', {}, `quickconnect action enable ${name} ${site}`)) : make('small', {}, 'No action runs here.')
		return make('div', {}, name, remedy)
	}
	const button = make('button', { type: 'button', 'data-action': name, disabled: !mayRun }, name)
	button.addEventListener('click', async () => {
		button.setAttribute('aria-busy', 'true')
		try {
			const { view } = await ask('begin', { tab, action: name })
			if (view === 'none') says.replaceChildren(`${name}: done.`)
			else window.close()
		} catch (error) {
			tell(says, error)
		} finally {
			button.removeAttribute('aria-busy')
		}
	})
	return button
}

// What each browser asks the user once.
function explain() {
	if (location.protocol === 'moz-extension:') {
		$('why').textContent = 'Firefox asks you once whether this extension may run scripts.'
		$('ask').textContent = 'Let it run scripts …'
		$('ask').onclick = async () => { if (await api.permissions.request({ permissions: ['userScripts'] })) await show() }
	} else {
		$('why').textContent = 'Switch on «Allow User Scripts» on the extension’s page, once.'
		$('ask').textContent = 'Open the extension’s page …'
		$('ask').onclick = () => api.tabs.create({ url: 'chrome://extensions/?id=' + api.runtime.id })
	}
}

show().catch(error => tell(says, error))
