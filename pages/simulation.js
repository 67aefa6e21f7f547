// SPDX-License-Identifier: Apache-2.0
// Sliders that move the simulated sensors, shown where the device has the command `simulate` and this page may call it.
import { device, make, may, onPress, placeOf, soon, tell, whenConnected } from './page.js'

const inputs = {
	tilt: { roll: { label: 'Right edge up', limit: 90, unit: '°' }, pitch: { label: 'Top edge up', limit: 90, unit: '°' } },
	position: {
		latitude: { label: 'Latitude', limit: 85, step: 0.001, unit: '°' }, longitude: { label: 'Longitude', limit: 180, step: 0.001, unit: '°' },
	},
}

/** Adds the sliders of an input to a card. */
function makeSliders(what, card) {
	const says = placeOf(card), members = inputs[what]
	const call = (...value) => device.call('simulate', what, ...value).then(show, error => tell(says, error))
	const move = soon(() => call(Object.fromEntries(Object.keys(members).map(name => [name, Number(members[name].slider.value)]))), 40)
	const rows = Object.entries(members).map(([name, member]) => {
		member.text = make('span', { class: 'number quiet' })
		member.slider = make('input', { type: 'range', id: `simulate-${name}`, min: -member.limit, max: member.limit, step: member.step || 1, value: 0 })
		member.slider.addEventListener('input', () => {
			write(member)
			move()
		})
		return make('div', {}, make('div', { class: 'row between' }, make('label', { for: member.slider.id }, member.label), member.text), member.slider)
	})
	const release = make('button', { type: 'button' }, 'Follow the track')
	onPress(release, () => call('default'))
	card.append(make('div', { class: 'simulate' }, make('h3', {}, 'Simulated'), ...rows, make('div', { class: 'row' }, release)))

	function write(member) {
		member.text.textContent = `${member.slider.value} ${member.unit}`
	}
	function show(now) {
		for (const [name, member] of Object.entries(members)) {
			if ('track' in now) member.text.textContent = 'as recorded'
			else if (document.activeElement !== member.slider) {
				member.slider.value = now[name]
				write(member)
			}
		}
	}
	return show
}

/** @param cards the element of the card for each input, such as {tilt, position}. */
export function showSimulation(cards) {
	const shown = {}
	whenConnected(async () => {
		// A device that simulates nothing has no such command; a refusal would be told to the page's author.
		const now = await may('simulate') ? await device.call('simulate').catch(() => undefined) : undefined
		for (const [what, card] of Object.entries(cards)) {
			if (now && !shown[what]) shown[what] = makeSliders(what, card)
			const part = card.querySelector('.simulate')
			if (part) part.hidden = !now
			if (now) shown[what](now[what])
		}
	})
}
