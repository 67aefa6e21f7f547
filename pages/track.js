// SPDX-License-Identifier: Apache-2.0
// A track on a plain grid, which needs no network, or on a map if tiles are configured.
import { makeSVG } from './page.js'

const metres = 111320 // of one degree of latitude
const most = 5000 // points
const steps = [1, 2, 5]

/** The distance between the grid's lines: 1, 2 or 5 times a power of ten metres, for about five lines across. */
function spacing(span) {
	const power = 10 ** Math.floor(Math.log10(span / 5))
	return power * (steps.find(step => step * power >= span / 5) || 10)
}

const length = count => count >= 1000 ? count / 1000 + ' km' : count + ' m'

export function makeTrack(plot, scale, map) {
	let points = []
	let showOnMap = () => {}

	function draw() {
		const last = points.at(-1)
		plot.replaceChildren()
		plot.classList.toggle('none', !last)
		if (!last) {
			scale.textContent = 'No position yet.'
			return
		}
		const { clientWidth: width = 300, clientHeight: height = 220 } = plot
		plot.setAttribute('viewBox', `0 0 ${width} ${height}`)
		const narrow = Math.cos(last.latitude * Math.PI / 180)
		const all = points.map(({ latitude, longitude }) => ({
			x: (longitude - last.longitude) * metres * narrow, y: (last.latitude - latitude) * metres,
		}))
		const [xs, ys] = [all.map(({ x }) => x), all.map(({ y }) => y)]
		const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)]
		const span = Math.max(right - left, (bottom - top) * width / height, (last.accuracy || 0) * 2 * width / height, 10) * 1.25
		const perMetre = width / span, centre = { x: (left + right) / 2, y: (top + bottom) / 2 }
		const at = ({ x, y }) => [width / 2 + (x - centre.x) * perMetre, height / 2 + (y - centre.y) * perMetre]
		const apart = spacing(span)
		grid(width, height, apart * perMetre, ...at({ x: 0, y: 0 }))
		const [x, y] = at({ x: 0, y: 0 })
		if (last.accuracy) plot.append(makeSVG('circle', { class: 'near', cx: x, cy: y, r: last.accuracy * perMetre }))
		plot.append(makeSVG('polyline', { class: 'track', points: all.map(point => at(point).map(value => value.toFixed(1)).join(',')).join(' ') }))
		plot.append(makeSVG('circle', { class: 'here', cx: x, cy: y, r: 7 }))
		scale.textContent = `${points.length} ${points.length === 1 ? 'position' : 'positions'}; a square is ${length(apart)} wide; north is up.`
	}

	function grid(width, height, apart, x, y) {
		for (let at = x % apart; at < width; at += apart) plot.append(makeSVG('line', { class: 'grid', x1: at, x2: at, y1: 0, y2: height }))
		for (let at = y % apart; at < height; at += apart) plot.append(makeSVG('line', { class: 'grid', x1: 0, x2: width, y1: at, y2: at }))
	}

	new ResizeObserver(draw).observe(plot)
	return {
		add(latitude, longitude, accuracy) {
			if (typeof latitude !== 'number' || typeof longitude !== 'number') return
			points.push({ latitude, longitude, accuracy })
			if (points.length > most) points = points.filter((point, index) => index % 2)
			draw()
			showOnMap(points)
		},
		clear() {
			points = []
			draw()
			showOnMap(points)
		},
		/** `tiles`: the address of a tile server, https://…/{z}/{x}/{y}.png, or {url, attribution}. */
		async showMap(tiles) {
			if (!await library()) return
			const { L } = window, { url, attribution } = typeof tiles === 'string' ? { url: tiles } : tiles
			map.hidden = false
			plot.classList.add('only-read')
			const view = L.map(map).setView([0, 0], 2)
			L.tileLayer(url, { attribution, maxZoom: 19 }).addTo(view)
			const line = L.polyline([]).addTo(view), here = L.circleMarker([0, 0], { radius: 7 })
			showOnMap = all => {
				const places = all.map(({ latitude, longitude }) => [latitude, longitude]), last = places.at(-1)
				line.setLatLngs(places)
				if (!last) return here.remove()
				here.setLatLng(last).addTo(view)
				view.setView(last, Math.max(view.getZoom(), 15))
			}
			showOnMap(points)
		},
	}
}

const at = name => new URL('lib/leaflet/' + name, import.meta.url).href

// Leaflet, if Debian's package is installed.
function library() {
	document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: at('leaflet.css') }))
	return new Promise(resolve => {
		const script = Object.assign(document.createElement('script'), { src: at('leaflet.js') })
		script.onload = () => resolve(true)
		script.onerror = () => resolve(false)
		document.head.append(script)
	})
}
