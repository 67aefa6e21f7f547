// SPDX-License-Identifier: Apache-2.0
// An editor of JavaScript with line numbers: CodeMirror if Debian's package is installed, else a text area. On a touch
// screen always the text area: keyboards and screen readers of phones work best with it.
import { make, placeOf, tell } from './elements.js'

/**
 * Puts an editor into `host`. Resolves to {value, isReadOnly, mark(line, column), focus(), onInput}; `label` is its name for
 * screen readers; `isPlain` does without CodeMirror. Tab moves the focus on, as everywhere on the page.
 */
export async function makeEditor(host, { label, readOnly = false, isPlain = false }) {
	host.classList.add('editor')
	const isTouched = matchMedia('(pointer: coarse)').matches
	return !isPlain && !isTouched && await library() ? rich(host, label, readOnly) : plain(host, label, readOnly)
}

function plain(host, label, readOnly) {
	const lines = make('pre', { class: 'lines', 'aria-hidden': true })
	const text = make('textarea', {
		'aria-label': label, readonly: readOnly, spellcheck: 'false', autocapitalize: 'none', autocomplete: 'off', autocorrect: 'off', wrap: 'off',
	})
	let marked
	const number = () => {
		const count = text.value.split('\n').length
		lines.replaceChildren(...Array.from({ length: count }, (_, index) => index + 1 === marked ? make('b', {}, index + 1) : `${index + 1}\n`))
		lines.scrollTop = text.scrollTop
	}
	const editor = {
		onInput() {},
		get value() { return text.value },
		set value(value) {
			text.value = value
			marked = undefined
			text.scrollTop = 0
			number()
		},
		get isReadOnly() { return text.readOnly },
		set isReadOnly(is) { text.readOnly = is },
		focus: () => text.focus(),
		mark(line, column = 1) {
			marked = line
			number()
			if (!line) return
			const before = text.value.split('\n').slice(0, line - 1)
			const at = before.join('\n').length + (before.length ? 1 : 0) + Math.max(0, column - 1)
			text.setSelectionRange(at, at)
			const height = parseFloat(getComputedStyle(text).lineHeight)
			text.scrollTop = Math.max(0, (line - 4) * height)
		},
	}
	text.addEventListener('scroll', () => { lines.scrollTop = text.scrollTop })
	text.addEventListener('input', () => {
		marked = undefined
		number()
		editor.onInput()
	})
	host.replaceChildren(lines, text)
	number()
	// An on-screen keyboard covers the lower part: keep the line with the caret visible.
	new ResizeObserver(() => {
		if (document.activeElement === text) showCaret(text)
	}).observe(text)
	return editor
}

// Lines do not wrap, so the line breaks before the caret give its place.
function showCaret(text) {
	const style = getComputedStyle(text)
	const height = parseFloat(style.lineHeight)
	const line = text.value.slice(0, text.selectionEnd).split('\n').length - 1
	const top = parseFloat(style.paddingTop) + line * height
	if (top < text.scrollTop) text.scrollTop = top - height
	else if (top + 2 * height > text.scrollTop + text.clientHeight) text.scrollTop = top + 2 * height - text.clientHeight
}

function rich(host, label, readOnly) {
	host.replaceChildren()
	const mirror = window.CodeMirror(host, {
		lineNumbers: true, mode: 'javascript', indentUnit: 4, matchBrackets: true, readOnly, inputStyle: 'contenteditable',
		screenReaderLabel: label, extraKeys: { Tab: false, 'Shift-Tab': false },
	})
	const field = mirror.getInputField()
	field.setAttribute('aria-label', label)
	field.setAttribute('role', 'textbox')
	field.setAttribute('aria-multiline', 'true')
	let marked, isOwn = false
	const unmark = () => {
		if (marked === undefined) return
		mirror.removeLineClass(marked, 'background', 'wrong')
		mirror.removeLineClass(marked, 'gutter', 'wrong-number')
		marked = undefined
	}
	const editor = {
		onInput() {},
		get value() { return mirror.getValue() },
		set value(value) {
			unmark()
			isOwn = true
			mirror.setValue(value)
			mirror.clearHistory()
			isOwn = false
			// While it was hidden, it could not measure its text.
			requestAnimationFrame(() => mirror.refresh())
		},
		get isReadOnly() { return mirror.getOption('readOnly') },
		set isReadOnly(is) { mirror.setOption('readOnly', is) },
		focus: () => mirror.focus(),
		mark(line, column = 1) {
			unmark()
			if (!line || line > mirror.lineCount()) return
			marked = mirror.getLineHandle(line - 1)
			mirror.addLineClass(marked, 'background', 'wrong')
			mirror.addLineClass(marked, 'gutter', 'wrong-number')
			mirror.setCursor(line - 1, Math.max(0, column - 1))
			mirror.scrollIntoView({ line: line - 1, ch: 0 }, 60)
		},
	}
	mirror.on('change', () => {
		if (isOwn) return
		unmark()
		editor.onInput()
	})
	new ResizeObserver(() => mirror.refresh()).observe(host)
	return editor
}

/**
 * Texts that one editor shows in turn, as chosen in `selector`. Choosing another text saves the current one; if that
 * fails, the current one stays. `load(name)` resolves to {text, version}, `save(name, text, version)` to {version};
 * `refused(error, name)` shows why a text was not saved; `status` shows the current state.
 */
export function makeEditing({ editor, selector, status, load, save, refused }) {
	let name, text = '', base = 0, isDirty = () => false

	async function show(next, content, version) {
		[name, text, base] = [next, content, version || 0]
		;(await editor).value = content
		selector.value = next
		status.textContent = `${next} as it is on the device. Another choice saves it.`
	}

	const editing = {
		get name() { return name },
		/** Saves the current text and shows another one; returns whether it does. */
		async edit(next) {
			let loaded
			// The user may keep typing while the other text loads.
			do {
				if (!await editing.save()) {
					selector.value = name
					return false
				}
				loaded = await load(next)
			} while (isDirty())
			await show(next, loaded.text, loaded.version)
			return true
		},
		/** Saves the changes; false if that was refused. */
		async save() {
			const { value } = await editor
			if (!name || value === text) return true
			placeOf(selector).replaceChildren()
			try {
				const { version } = await save(name, value, base)
				;[text, base] = [value, version]
				status.textContent = `Saved ${name}, version ${version}.`
				return true
			} catch (error) {
				refused(error, name)
				return false
			}
		},
		/** Starts a new text, which the device gets when it is saved. */
		async begin(next, content) {
			if (!await editing.save()) return
			selector.append(make('option', { value: next }, next))
			await show(next, content, 0)
			text = ''
			status.textContent = `${next} is not saved yet.`
			;(await editor).focus()
		},
		/** Shows the text from the device again; if it is not there, the first of `names`. */
		async discard(names) {
			const next = names.includes(name) ? name : names[0]
			name = undefined
			if (next) return editing.edit(next)
			;(await editor).value = ''
		},
		/** Somebody changed it elsewhere: the next choice loads it again. */
		forget(gone) { if (name === gone) name = undefined },
	}
	editor.then(each => {
		isDirty = () => Boolean(name) && each.value !== text
		each.onInput = () => { status.textContent = 'Not saved yet. Another choice saves it.' }
	})
	selector.addEventListener('change', () => editing.edit(selector.value).catch(error => tell(placeOf(selector), error)))
	// Ask before unsaved changes are lost.
	addEventListener('beforeunload', event => { if (isDirty()) event.preventDefault() })
	return editing
}

let loading

// From Debian's libjs-codemirror; false if it is not installed.
function library() {
	loading ??= (async () => {
		const folder = new URL('lib/codemirror/', import.meta.url).href
		if (!await load(folder + 'lib/codemirror.js')) return false
		document.head.querySelector('link[rel=stylesheet]').before(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: folder + 'lib/codemirror.css' }))
		await Promise.all([load(folder + 'mode/javascript/javascript.js'), load(folder + 'addon/edit/matchbrackets.js')])
		return typeof window.CodeMirror === 'function'
	})()
	return loading
}

function load(address) {
	return new Promise(resolve => {
		const script = Object.assign(document.createElement('script'), { src: address, async: false })
		script.onload = () => resolve(true)
		script.onerror = () => resolve(false)
		document.head.append(script)
	})
}
