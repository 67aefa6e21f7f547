var ready = 0
function setupWebViewJavascriptBridge(callback) {
	if (window.WebViewJavascriptBridge) { return callback(WebViewJavascriptBridge) }
	if (window.WVJBCallbacks) { return window.WVJBCallbacks.push(callback) }
	window.WVJBCallbacks = [callback]
	var frame = document.createElement('iframe')
	frame.style.display = 'none'
	frame.src = 'https://__bridge_loaded__'
	document.documentElement.appendChild(frame)
	setTimeout(function () { document.documentElement.removeChild(frame) }, 0)
}
setupWebViewJavascriptBridge(function (bridge) {
	bridge.callHandler('hello', null, function (value) { ready = value.protocol })
})
