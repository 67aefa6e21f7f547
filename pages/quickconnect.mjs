// SPDX-License-Identifier: Apache-2.0
// quickconnect.js as a module: import quickconnect, { makeCall } from '/quickconnect.mjs'.
import './quickconnect.js'

const { quickconnect } = globalThis
if (typeof document !== 'undefined') quickconnect.base = import.meta.url

export default quickconnect
export const {
	connect, makeCall, call, callWith, on, handle, value, set, add, post, watch, wake, handleRequest, handleJSONRequest, handleError,
	mapCommandToValCF, mapCommandToBCF, mapCommandToVCF, mapCommandToECF, registerHandler, removeHandler, callHandler, bridge,
} = quickconnect
