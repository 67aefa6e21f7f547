// SPDX-License-Identifier: Apache-2.0
// The body of a function that returns the value of a text: of its `return`, else of its last expression. Runs in a world of
// the window, because a page's policy may forbid `Function`. The text itself does not run here.
const Body = (async () => {}).constructor
const parses = (Kind, body) => {
	try {
		return !!new Kind('data', body)
	} catch {
		return false
	}
}
const fits = body => parses(Body, body)
const returning = last => `return (${last}\n)`
// How many ends are tried; each costs a parse.
const most = 100

const found = (body, isImplicit) => ({ body, isImplicit, isAsync: !parses(Function, body) })

const whole = text.replace(/[\s;]+$/, '')
if (fits(returning(whole))) return found(returning(whole), true)
if (!fits(text)) return null

// Where the last expression may begin: after a semicolon, or on a line that does not continue the one before.
const starts = [...whole.matchAll(/;|\n(?=\s*(?!in\b|instanceof\b)[\w$"'!~\u0080-\uffff])/g)].slice(-most).reverse()
for (const { index } of starts) {
	const [before, last] = [whole.slice(0, index + 1), whole.slice(index + 1)]
	// These are declarations and blocks here, but expressions after `return`.
	if (/^\s*(\{|(async\s+)?function\b|class\b)/.test(last) || !fits(returning(last))) continue
	if (fits(before + returning(last))) return found(before + returning(last), true)
}
return found(text, false)
