// What quickconnect.js offers; docs/pages.md tells more.

/** Any JSON value. */
export type JSONValue = null | boolean | number | string | JSONValue[] | { [name: string]: JSONValue }

/** What the promise of a call is rejected with: the device's error reply, with all its members. */
export interface CallError extends Error {
	/** One of the protocol's codes, or 'connectionLost': nobody knows whether the call was done. */
	code: string
	cmd: string
	fields?: { field: string, expected: string }[]
	[member: string]: unknown
}

export type State = 'idle' | 'connecting' | 'connected' | 'waiting' | 'loggedOut' | 'closed'

/** What a handler is told of a call, besides its data. */
export interface HandlerCall {
	/** The data as a list, in whatever form the caller gave it. */
	parameters: any[]
	command?: string
	phase?: 'validation' | 'business' | 'view' | 'error'
	results?: JSONValue[]
	caller?: { uid?: number, gateway?: string, user: string | null }
	error?: JSONValue
	/** Set it, and the reply goes under this command. */
	replyCommand?: string
	/** Set it, and nothing of the stack runs behind this handler. */
	end?: boolean
}

/** With two parameters it answers by the callback, or by a promise of a value; with fewer by what it returns. */
export type Handler = (data: any, answer: (value?: JSONValue) => void, call: HandlerCall) => unknown

/** The page side of WebViewJavascriptBridge. */
export interface Bridge {
	registerHandler(name: string, handler: Handler): void
	removeHandler(name: string): void
	callHandler(name: string, answered?: (value: any, error?: CallError) => void): Answer
	callHandler(name: string, data: unknown, answered?: (value: any, error?: CallError) => void): Answer
	/** Does nothing: messages never wait for a timeout here. The name is the original's. */
	disableJavscriptAlertBoxSafetyTimeout(): void
	disableJavascriptAlertBoxSafetyTimeout(): void
}

/** What will be answered. `call('cancel', id)` ends the call; it then is rejected with `cancelled`. */
export interface Answer extends Promise<any> {
	readonly id: string
}

export interface Client extends Bridge {
	readonly state: State
	/** Calls a command as the book does: a text is `msg`. The promise may be ignored; the front controller sees the reply. */
	makeCall(command: string, message?: unknown): Answer
	/** Calls a command with these parameters; the reply goes to the promise alone. */
	call(command: string, ...parameters: unknown[]): Answer
	/**
	 * The same, but after `timeout` milliseconds it is rejected with `timeout`: it is not sent later, and one under way is cancelled while it
	 * waits. What has been sent may still be done by a program that stood still; what must not go on by itself needs an end, such as `for`.
	 */
	callWith(options: { timeout?: number }, command: string, ...parameters: unknown[]): Answer
	/** Calls `listener` for each event of that name, until the function that it gives is called. */
	on(name: string, listener: (value: any, name: string) => void, options?: object): Promise<() => Promise<unknown>>
	/** Answers the calls to a handler with what `answer` returns or throws, until `removeHandler(name)`. */
	handle(name: string, answer: (data: any, call: HandlerCall) => unknown): Promise<void>
	/** The present value. Rejected with `notFound` where there is no value of that name. */
	value(name: string): Promise<any>
	/** Calls `listener` with the present value and at each change, also after a new connection, until the function that it gives is called. */
	value(name: string, listener: (value: any, name: string) => void): Promise<() => Promise<unknown>>
	/** Sets a value; gives what it became. With options, such as `for`, it is a `call`. */
	set(name: string, value: unknown): Promise<any>
	/** Adds to a value that is a number, in one step: no count is lost. Without a number it adds 1. */
	add(name: string, number?: number): Promise<number>
	/** Sends an event to those who listen to it. */
	post(event: string, data?: unknown): Promise<null>
	/** Calls `watcher` with the state of the connection, now and at each change, until the function that it gives is called. */
	watch(watcher: (state: State) => void): () => void
	/** Looks at once whether the connection is alive, or connects. */
	wake(): void
	/** Ends the connection until something is wanted again, or a moment has passed. */
	rest(): void
	close(): void
	handleRequest(command: string, parameters?: unknown): unknown
	handleJSONRequest(command: string, parameters?: string | null): unknown
	handleError(command: string, message: unknown, parameters?: unknown): void
	mapCommandToValCF(command: string, run: (parameters: any, results: any[]) => unknown): void
	mapCommandToBCF(command: string, run: (parameters: any, results: any[]) => unknown): void
	mapCommandToVCF(command: string, run: (results: any[], parameters: any) => unknown): void
	mapCommandToECF(command: string, run: (message: any, parameters: any) => unknown): void
	bridge: Bridge
}

/** A page's client. */
export interface PageClient extends Client {
	/** Beside which address `bridge`, the WebSocket, is. */
	base: string
	connect: typeof connect
}

/** A client of its own, in Node for example; `WebSocket` is a class such as that of the package ws. */
export function connect(options: { url: string, WebSocket?: new (url: string) => object }): Client

declare const quickconnect: PageClient
export default quickconnect

export const makeCall: Client['makeCall']
export const call: Client['call']
export const callWith: Client['callWith']
export const on: Client['on']
export const handle: Client['handle']
export const value: Client['value']
export const set: Client['set']
export const post: Client['post']
export const watch: Client['watch']
export const wake: Client['wake']
export const handleRequest: Client['handleRequest']
export const handleJSONRequest: Client['handleJSONRequest']
export const handleError: Client['handleError']
export const mapCommandToValCF: Client['mapCommandToValCF']
export const mapCommandToBCF: Client['mapCommandToBCF']
export const mapCommandToVCF: Client['mapCommandToVCF']
export const mapCommandToECF: Client['mapCommandToECF']
export const registerHandler: Client['registerHandler']
export const removeHandler: Client['removeHandler']
export const callHandler: Client['callHandler']
export const bridge: Bridge

declare global {
	interface Window {
		quickconnect: PageClient
		qc: PageClient
		WebViewJavascriptBridge: Bridge
		WVJBCallbacks?: ((bridge: Bridge) => void)[]
	}
	function setupWebViewJavascriptBridge(callback: (bridge: Bridge) => void): void
}
