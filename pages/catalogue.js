// SPDX-License-Identifier: Apache-2.0
// The device catalogue: the handlers of the book's page under their original names, one for each button.
import { $, bytes, calls, clock, device, listen, make, onCall, onPress, placeOf, session, soon, tell, whenConnected } from './page.js'
import './declared.js'
import { showLines } from './lines.js'
import { showSimulation } from './simulation.js'
import { makeTrack } from './track.js'

const { makeCall, mapCommandToVCF } = window

// Sound and vibration

async function showSounds() {
	const sounds = await device.call('sounds').catch(error => void tell(placeOf($('sounds')), error))
	if (!sounds) return
	$('sounds').replaceChildren(...sounds.map(({ number, name }) => {
		const button = make('button', { type: 'button' }, name.replace(/\.[^.]*$/, ''))
		onCall(button, () => ['playSound', number])
		return button
	}))
}

function showVolume({ volume, muted }) {
	$('volume-text').textContent = muted ? 'muted' : volume + ' %'
	$('mute').setAttribute('aria-pressed', muted)
	if (document.activeElement !== $('volume') || !isSliding) $('volume').value = volume
}

let isSliding = false
const setVolume = soon(() => {
	device.call('volume', Number($('volume').value)).then(showVolume, error => tell(placeOf($('volume')), error))
}, 40)
$('volume').addEventListener('input', () => {
	isSliding = true
	setVolume()
})
$('volume').addEventListener('change', () => { isSliding = false })

async function beginVolume() {
	// A sound card without a mixer is not the user's mistake.
	const now = await device.call('volume').catch(() => undefined)
	$('volume-row').hidden = !now
	if (now) showVolume(now)
}

// Recording

const nameOfFile = () => $('file').value.trim() || 'recordedFile.wav'

let playing, recording

function fill(bar, part) {
	const share = Math.max(0, Math.min(1, part || 0))
	bar.firstElementChild.style.transform = `scaleX(${share})`
	bar.setAttribute('aria-valuenow', Math.round(share * 100))
}

const words = { recording: 'Recording', playing: 'Playing', paused: 'Paused', stopped: 'Stopped', ended: 'Ended', failed: 'Failed' }

function showRecording({ file, state, seconds, peak, message }) {
	const isOn = state === 'recording'
	recording = isOn ? file : undefined
	$('rec-state').textContent = `${words[state]}: ${file}${message ? ' – ' + message : ''}`
	$('rec-time').textContent = clock(seconds)
	// The ear perceives decibels: 60 of them fill the bar.
	fill($('level'), isOn && peak > 0 ? 1 + Math.log10(peak) / 3 : 0)
	$('level').classList.toggle('loud', isOn && peak > 0.95)
	if (!isOn) showMedia()
}

function showPlaying({ file, state, position, duration, message }) {
	const isOn = state === 'playing' || state === 'paused'
	playing = isOn ? file : undefined
	$('play-state').textContent = `${words[state]}: ${file}${message ? ' – ' + message : ''}`
	$('play-time').textContent = clock(position) + (duration ? ' of ' + clock(duration) : '')
	fill($('progress'), duration ? position / duration : 0)
}

// Shows what began before this page was opened, or while the connection was lost.
async function showWhatGoesOn() {
	const state = await device.call('state').catch(() => undefined)
	if (!state) return
	if (!state.recording.length && recording) {
		recording = undefined
		$('rec-state').textContent = 'Not recording'
		fill($('level'), 0)
	}
	if (!state.playing.length && playing) {
		playing = undefined
		$('play-state').textContent = 'Not playing'
		fill($('progress'), 0)
	}
}

// Recordings

const showMedia = soon(async () => {
	const files = await device.call('media').catch(error => void tell(placeOf($('media')), error))
	if (!files) return
	$('media-empty').hidden = files.length > 0
	const had = document.activeElement?.dataset?.file
	$('media').replaceChildren(...files.map(file))
	if (had) [...$('media').querySelectorAll('button')].find(button => button.dataset.file === had)?.focus()
})

function file({ name, seconds, bytes: count, owner }) {
	const facts = [seconds === null ? undefined : clock(seconds), bytes(count), owner && owner.user].filter(Boolean).join(' · ')
	const button = (text, kind = '') => make('button', { type: 'button', class: 'plain' + kind, 'aria-label': `${text} ${name}`, 'data-file': text + name }, text)
	const [play, save, remove] = [button('Play'), button('Save'), button('Remove', ' danger')]
	onCall(play, () => ['play', name, 'start'])
	onPress(save, () => download(name))
	onCall(remove, () => ['media', 'remove', name], showMedia)
	return make('li', {}, make('div', {}, name, make('small', {}, facts)), make('div', { class: 'row' }, play, save, remove))
}

const piece = 384 << 10 // A multiple of 3, so that the Base64 pieces can be joined.

async function download(name) {
	const parts = []
	for (let offset = 0, size = 1; offset < size;) {
		const answer = await device.call('media', 'read', name, offset, piece)
		const text = atob(answer.data)
		if (!text.length) break
		parts.push(Uint8Array.from(text, letter => letter.charCodeAt(0)))
		offset += text.length
		size = answer.size
		$('upload-state').textContent = `${name}: ${Math.round(100 * offset / size)} %`
	}
	$('upload-state').textContent = ''
	const address = URL.createObjectURL(new Blob(parts))
	make('a', { href: address, download: name.split('/').pop() }).click()
	setTimeout(() => URL.revokeObjectURL(address), 60000)
}

async function upload(chosen) {
	let offset = 0
	do {
		const part = new Uint8Array(await chosen.slice(offset, offset + piece).arrayBuffer())
		let text = ''
		for (let at = 0; at < part.length; at += 8192) text += String.fromCharCode(...part.subarray(at, at + 8192))
		const isLast = offset + part.length >= chosen.size
		await device.call('media', 'write', chosen.name, offset, btoa(text), { begin: offset === 0, end: isLast })
		offset += part.length
		$('upload-state').textContent = `${chosen.name}: ${chosen.size ? Math.round(100 * offset / chosen.size) : 100} %`
	} while (offset < chosen.size)
	$('upload-state').textContent = `${chosen.name} is on the device.`
	showMedia()
}

$('upload').addEventListener('change', async ({ target }) => {
	const says = placeOf(target)
	says.replaceChildren()
	if (target.files[0]) await upload(target.files[0]).catch(error => {
		$('upload-state').textContent = ''
		tell(says, error)
	})
	target.value = ''
})

// Position

const track = makeTrack($('plot'), $('scale'), $('map'))

function getGPSLocation() {
	document.getElementById('locDisplay').innerText = ''
	return makeCall('loc')
}

function displayLocationVCF(data, paramArray) {
	const [latitude, longitude, altitude, accuracy] = paramArray
	document.getElementById('locDisplay').innerText = 'latitude: ' + latitude + '\nlongitude: ' + longitude + '\naltitude: ' + altitude
	track.add(latitude, longitude, accuracy)
}

let unfollow

async function followLocation() {
	if (unfollow) {
		const end = unfollow
		unfollow = undefined
		$('follow').setAttribute('aria-pressed', 'false')
		return end()
	}
	unfollow = await device.on('location', ({ latitude, longitude, altitude, accuracy }) => {
		displayLocationVCF([], [latitude, longitude, altitude, accuracy])
	}, { maximumAge: null })
	$('follow').setAttribute('aria-pressed', 'true')
}

const clearTrack = () => track.clear()

// Motion

let unwatch

function displayAccelerationVCF(data, param) {
	document.getElementById('accelDisplay').innerText = 'x: ' + param.x.toFixed(3) + '\ny: ' + param.y.toFixed(3) + '\nz: ' + param.z.toFixed(3)
	// The bubble rises, as in a spirit level.
	const reach = Math.hypot(param.x, param.y), share = reach > 1 ? 1 / reach : 1
	$('bubble').setAttribute('cx', (param.x * share * 46).toFixed(1))
	$('bubble').setAttribute('cy', (-param.y * share * 46).toFixed(1))
}

async function watchMotion() {
	const end = unwatch
	unwatch = undefined
	if (end) await end()
	else unwatch = await device.on('accel', value => displayAccelerationVCF([], value), { rate: 20 })
	$('watch').textContent = unwatch ? 'Pause' : 'Watch'
}

// Pickers

const showDateSelector = () => pick('DateTime')
const showDayPicker = () => pick('Date')
const showTimePicker = () => pick('Time')

async function pick(kind) {
	$('pickerResults').textContent = ''
	try {
		await makeCall('showDate', kind)
	} catch (error) {
		// Nothing shows dialogs on the device: use the browser's own.
		if (!['unavailable', 'denied', 'unknownCommand'].includes(error.code)) throw error
		const value = await pickHere(kind)
		if (value) await makeCall('sendPickResults', [value.replace('T', ' '), value])
	}
}

function pickHere(kind) {
	const dialog = $('picker'), input = $('picked')
	input.type = { Date: 'date', Time: 'time', DateTime: 'datetime-local' }[kind]
	const now = new Date(Date.now() - new Date().getTimezoneOffset() * 60000).toISOString()
	input.value = { Date: now.slice(0, 10), Time: now.slice(11, 16), DateTime: now.slice(0, 16) }[kind]
	dialog.returnValue = ''
	dialog.showModal()
	return new Promise(resolve => {
		dialog.addEventListener('close', () => resolve(dialog.returnValue === 'done' ? input.value : ''), { once: true })
	})
}

function displayPickerSelectionVCF(data, paramArray) {
	document.getElementById('pickerResults').textContent = paramArray[0]
}

// Nearby, and the journal

async function findNearby() {
	$('nearby').replaceChildren(make('li', {}, 'Looking …'))
	try {
		const services = await call('findNearby')
		$('nearby').replaceChildren(...services.map(({ name, type, host, address, port }) => {
			return make('li', {}, make('div', {}, name, make('small', {}, `${type.replace(/^_|\._.*/g, '')} · ${address || host}:${port}`)))
		}))
		if (!services.length) $('nearby').append(make('li', { class: 'empty' }, 'Nothing answers nearby.'))
	} catch (error) {
		$('nearby').replaceChildren()
		throw error
	}
}

async function logMessage() {
	await call('logMessage')
	$('logged').textContent = 'Written.'
	setTimeout(() => { $('logged').textContent = '' }, 3000)
}

/** What the buttons call, or hear. */
const called = {
	// −1 vibrates, 0 is the laser.
	vibrateDevice: () => ['playSound', -1], playSound: () => ['playSound', 0], stopAll: () => ['stop'],
	muteVolume: () => ['volume', $('mute').getAttribute('aria-pressed') === 'true' ? 'unmute' : 'mute'],
	startRecording: () => ['rec', nameOfFile(), 'start'], stopRecording: () => ['rec', recording || nameOfFile(), 'stop'],
	playRecording: () => ['play', nameOfFile(), 'start'], terminatePlaying: () => ['play', playing || nameOfFile(), 'stop'],
	getGPSLocation: () => ['loc'], followLocation: () => 'location', watchMotion: () => 'accel',
	showDateSelector: () => ['showDate', 'DateTime'], showDayPicker: () => ['showDate', 'Date'], showTimePicker: () => ['showDate', 'Time'],
	findNearby: () => ['nearby', { timeout: 3000 }], logMessage: () => ['logMessage', $('message').value],
}
const call = name => device.call(...called[name]())
const muteVolume = async () => showVolume(await call('muteVolume'))
const calling = ['vibrateDevice', 'playSound', 'stopAll', 'startRecording', 'stopRecording', 'playRecording', 'terminatePlaying']

const handlers = {
	...Object.fromEntries(calling.map(name => [name, () => call(name)])), muteVolume, getGPSLocation,
	followLocation, clearTrack, watchMotion, showDateSelector, showDayPicker, showTimePicker, findNearby, logMessage,
	displayLocationVCF, displayAccelerationVCF, displayPickerSelectionVCF,
}
Object.assign(window, handlers)
for (const button of document.querySelectorAll('[data-run]')) onPress(button, handlers[button.dataset.run], called[button.dataset.run])
calls.set($('volume'), () => ['volume', Number($('volume').value)])
showLines($('lines'), document.querySelectorAll('.card'))

mapCommandToVCF('showLoc', displayLocationVCF)
mapCommandToVCF('showPickResults', displayPickerSelectionVCF)
listen('recState', showRecording, undefined, placeOf($('level')))
listen('playState', showPlaying, undefined, placeOf($('progress')))
listen('volumeState', showVolume)
watchMotion().catch(error => {
	tell(placeOf($('watch')), error)
	$('watch').textContent = 'Watch'
})
// A page that is not visible must not keep a sensor on.
document.addEventListener('visibilitychange', () => {
	if (document.hidden === Boolean(unwatch)) watchMotion().catch(() => {})
})
whenConnected(() => {
	beginVolume()
	showSounds()
	showMedia()
	showWhatGoesOn()
})
showSimulation({ tilt: $('watch').closest('.card'), position: $('follow').closest('.card') })
session.then(person => person && person.tiles && track.showMap(person.tiles))
