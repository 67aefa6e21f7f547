// SPDX-License-Identifier: Apache-2.0
// A series as lines with axes: numbers, [x, y], or objects with a date or a number and numbers. Drawn here, without a library.
import { make, makeSVG } from './page.js'

const maxLines = 4, maxPoints = 2000
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)
// For larger numbers, even the difference of two may be infinite.
const isNumber = value => typeof value === 'number' && Math.abs(value) < 1e300
const isGap = value => value === null || value === undefined
const day = /^\d{4}-\d\d-\d\d$/, moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d/
const isDate = value => typeof value === 'string' && (day.test(value) || moment.test(value)) && !Number.isNaN(Date.parse(value))

/**
 * An answer as lines: {x: {name, isTime, isUTC}, lines: [{name, points: [[x, y], …]}]}; undefined if it is not a
 * series. A series has at least two dates or numbers, in any order.
 */
export function seriesOf(answer) {
	if (!Array.isArray(answer) || answer.length < 2) return undefined
	if (answer.every(isNumber)) return lines(answer.map((y, index) => ({ number: index + 1, value: y })), 'number', ['value'])
	if (answer.every(each => Array.isArray(each) && each.length === 2)) {
		return ofObjects(answer.map(([x, y]) => ({ x, y })))
	}
	return answer.every(isObject) ? ofObjects(answer) : undefined
}

function ofObjects(objects) {
	const names = [...new Set(objects.flatMap(Object.keys))]
	if (names.length < 2 || names.length > maxLines + 1) return undefined
	const dated = names.find(name => objects.every(each => isDate(each[name])))
	// If there are two numbers, the second depends on the first; with more than two, nobody knows.
	const x = dated ?? (names.length === 2 ? names[0] : undefined)
	const others = names.filter(name => name !== x)
	if (!x || !dated && !objects.every(each => isNumber(each[x]))) return undefined
	const isSeries = others.every(name => objects.every(each => isNumber(each[name]) || isGap(each[name])) && objects.some(each => isNumber(each[name])))
	return isSeries ? lines(objects, x, others) : undefined
}

function lines(objects, x, names) {
	const isTime = typeof objects[0][x] === 'string'
	const at = isTime ? each => Date.parse(each[x]) : each => each[x]
	const sorted = objects.map(each => ({ each, at: at(each) })).sort((a, b) => a.at - b.at)
	return {
		// A date without a time is a day in UTC, as procedures interpret it.
		x: { name: x, isTime, isUTC: isTime && objects.every(each => day.test(each[x])) },
		lines: names.map(name => ({ name, points: sorted.map(({ each, at }) => [at, isGap(each[name]) ? null : each[name]]) })),
	}
}

/** Why an answer is no series, in words. */
function reason(answer) {
	if (!Array.isArray(answer)) return 'the answer is no list'
	if (answer.length < 2) return 'it needs two entries'
	const isText = value => typeof value === 'string' && value.trim() !== '' && isNumber(Number(value))
	const rows = answer.filter(isObject)
	const name = rows.flatMap(Object.keys).find(name => rows.some(each => isText(each[name])))
	if (name !== undefined) return `${name} is text, not a number: in SQL, max(data ->> '$') is a number where max(data) is text`
	return answer.some(each => isText(each) || Array.isArray(each) && each.some(isText)) ? 'a text is no number' : 'the answer is no series'
}

/** If there are very many points, keeps the lowest and the highest of each part: nothing else can be seen. */
function thinned(points) {
	if (points.length <= maxPoints) return points
	const size = Math.ceil(points.length / (maxPoints / 2)), all = []
	for (let start = 0; start < points.length; start += size) {
		const part = points.slice(start, start + size).filter(([, y]) => y !== null)
		if (!part.length) continue
		const low = part.reduce((a, b) => b[1] < a[1] ? b : a), high = part.reduce((a, b) => b[1] > a[1] ? b : a)
		all.push(...(low[0] <= high[0] ? [low, high] : [high, low]))
	}
	return all
}

// Axes

const minute = 6e4, hour = 60 * minute, wholeDay = 24 * hour
const times = [1, 2, 5, 10, 30].map(each => each * 1000).concat([1, 2, 5, 10, 30].map(each => each * minute), [1, 3, 6, 12].map(each => each * hour),
	[1, 2, 7, 14].map(each => each * wholeDay))
const months = [1, 3, 6, 12, 24, 60, 120, 240]

function stepOf(span, count) {
	const power = 10 ** Math.floor(Math.log10(span / count))
	return power * ([1, 2, 5, 10].find(step => step * power >= span / count) ?? 10)
}

function ticks(low, high, step, shift = 0) {
	const all = []
	for (let at = Math.ceil((low - shift) / step - 1e-9); at * step + shift <= high + step * 1e-9 && all.length < 50; at += 1) all.push(at * step + shift)
	return all
}

/** The ends of an axis, with some distance if all values are equal. */
function rangeOf(values) {
	const [low, high] = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity])
	return low === high ? [low - (Math.abs(low) / 2 || 1), high + (Math.abs(high) / 2 || 1)] : [low, high]
}

const number = value => Math.abs(value) >= 1e6 || value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(6)))

const format = (isUTC, parts) => new Intl.DateTimeFormat('en-GB', { ...parts, ...(isUTC ? { timeZone: 'UTC' } : {}) })

/** Marks of a time axis at a fixed distance. At midnight they show the day. */
function timeMarks(first, last, step, isUTC) {
	// Days begin at midnight in the viewer's time zone.
	const shift = isUTC ? 0 : new Date(first).getTimezoneOffset() * minute
	const days = format(isUTC, { day: 'numeric', month: 'short' })
	const hours = format(isUTC, { hour: '2-digit', minute: '2-digit', ...(step < minute ? { second: '2-digit' } : {}) })
	return ticks(first, last, step, shift).map(x => [x, (x - shift) % wholeDay ? hours.format(x) : days.format(x)])
}

/** Marks at the first day of months or years. */
function monthMarks(first, last, count, isUTC) {
	const step = months.find(each => (last - first) / (each * 30.44 * wholeDay) <= count) ?? months.at(-1)
	const label = format(isUTC, step >= 12 ? { year: 'numeric' } : { month: 'short', year: 'numeric' })
	const all = [], start = new Date(first).getUTCFullYear()
	for (let month = 0; all.length < 50; month += step) {
		const x = isUTC ? Date.UTC(start, month) : new Date(start, month).getTime()
		if (!(x <= last)) break
		if (x >= first) all.push([x, label.format(x)])
	}
	return all
}

/** A text for each end of the series, for screen readers. */
const endText = ({ isTime, isUTC }, value) => !isTime ? number(value) : isUTC ? new Date(value).toISOString().slice(0, 10) : new Date(value).toLocaleString('en-GB')

let shown

/**
 * Draws a series into `plot`, an SVG, and names its lines in `legend`. Draws again whenever the width changes. Without a
 * series it draws nothing, and `legend` says why, as far as `answer`, which was to be one, tells.
 */
export function drawPlot(plot, legend, series, title, answer) {
	if (!series) {
		shown?.disconnect()
		plot.replaceChildren()
		plot.removeAttribute('aria-label')
		legend.textContent = `no plot: ${answer === undefined ? 'the answer is no series' : reason(answer)}`
		return
	}
	legend.replaceChildren(...series.lines.map(({ name }, index) => make('span', { class: 'line-' + index }, make('i', { 'aria-hidden': true }), name)))
	const [left, right] = rangeOf(series.lines[0].points.map(([x]) => x))
	const told = series.lines.map(({ name, points }) => {
		const [low, high] = points.map(([, y]) => y).filter(y => y !== null).reduce(([low, high], y) => [Math.min(low, y), Math.max(high, y)], [Infinity, -Infinity])
		return `${name} from ${number(low)} to ${number(high)}`
	})
	plot.setAttribute('aria-label', `Plot of ${title}: ${told.join(', ')}; ${series.x.name} from ${endText(series.x, left)} to ${endText(series.x, right)}.`)
	const all = series.lines.map(line => ({ ...line, points: thinned(line.points) }))
	const draw = () => paint(plot, all, series.x)
	shown?.disconnect()
	shown = new ResizeObserver(draw)
	shown.observe(plot)
	draw()
}

function paint(plot, all, axis) {
	const { clientWidth: width = 300, clientHeight: height = 240 } = plot
	plot.setAttribute('viewBox', `0 0 ${width} ${height}`)
	plot.replaceChildren()
	const values = all.flatMap(({ points }) => points.map(([, y]) => y)).filter(y => y !== null)
	let [low, high] = rangeOf(values)
	// The axis starts at 0 if 0 is not far away, so that heights can be compared.
	if (low > 0 && low < high / 2) low = 0
	if (high < 0 && high > low / 2) high = 0
	const [first, last] = rangeOf(all[0].points.map(([x]) => x))
	const yTicks = ticks(low, high, stepOf(high - low, 4))
	const edge = { left: 16 + 7 * Math.max(...yTicks.map(y => number(y).length), 2), right: 20, top: 14, bottom: 44 }
	const across = x => edge.left + (x - first) / (last - first) * (width - edge.left - edge.right)
	const down = y => height - edge.bottom - (y - low) / (high - low) * (height - edge.top - edge.bottom)
	const text = (content, x, y, anchor) => {
		const element = makeSVG('text', { x, y, 'text-anchor': anchor })
		element.textContent = content
		plot.append(element)
	}
	for (const y of yTicks) {
		plot.append(makeSVG('line', { class: 'grid', x1: edge.left, x2: width - edge.right, y1: down(y), y2: down(y) }))
		text(number(y), edge.left - 6, down(y) + 4, 'end')
	}
	for (const [x, label] of marks(axis, first, last, Math.max(2, Math.floor((width - edge.left) / 68)))) {
		plot.append(makeSVG('line', { class: 'grid', x1: across(x), x2: across(x), y1: edge.top, y2: height - edge.bottom }))
		text(label, across(x), height - edge.bottom + 16, 'middle')
	}
	plot.append(makeSVG('path', { class: 'axis', d: `M${edge.left},${edge.top}V${height - edge.bottom}H${width - edge.right}` }))
	text(axis.name + (axis.isUTC || !axis.isTime ? '' : ', local time'), (edge.left + width - edge.right) / 2, height - 8, 'middle')
	if (all.length === 1) upright(plot, all[0].name, 12, (edge.top + height - edge.bottom) / 2)
	all.forEach(({ points }, index) => trace(plot, points, index, across, down))
}

function upright(plot, content, x, y) {
	const element = makeSVG('text', { x, y, 'text-anchor': 'middle', transform: `rotate(-90 ${x} ${y})` })
	element.textContent = content
	plot.append(element)
}

function marks({ isTime, isUTC }, first, last, count) {
	if (!isTime) return ticks(first, last, stepOf(last - first, count)).map(x => [x, number(x)])
	const step = times.find(each => (last - first) / each <= count)
	return step ? timeMarks(first, last, step, isUTC) : monthMarks(first, last, count, isUTC)
}

function trace(plot, points, index, across, down) {
	let path = '', isOn = false
	for (const [x, y] of points) {
		if (y !== null) path += `${isOn ? 'L' : 'M'}${across(x).toFixed(1)},${down(y).toFixed(1)}`
		isOn = y !== null
	}
	plot.append(makeSVG('path', { class: `line line-${index}`, d: path }))
	if (points.length > 60) return
	for (const [x, y] of points) if (y !== null) plot.append(makeSVG('circle', { class: `dot line-${index}`, cx: across(x), cy: down(y), r: 3 }))
}
