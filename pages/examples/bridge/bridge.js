// A page of WebViewJavascriptBridge, with the unchanged function that its users paste into their pages.
function setupWebViewJavascriptBridge(callback) {
    if (window.WebViewJavascriptBridge) { return callback(WebViewJavascriptBridge); }
    if (window.WVJBCallbacks) { return window.WVJBCallbacks.push(callback); }
    window.WVJBCallbacks = [callback];
    var WVJBIframe = document.createElement('iframe');
    WVJBIframe.style.display = 'none';
    WVJBIframe.src = 'https://__bridge_loaded__';
    document.documentElement.appendChild(WVJBIframe);
    setTimeout(function() { document.documentElement.removeChild(WVJBIframe) }, 0)
}

setupWebViewJavascriptBridge(function(bridge) {
    function log(message, data) {
        var line = document.createElement('li');
        line.textContent = message + ': ' + JSON.stringify(data);
        document.getElementById('log').prepend(line);
    }

    bridge.registerHandler('brighten', function(data, responseCallback) {
        log('brighten was called with', data);
        responseCallback({ 'level': data });
    });

    document.getElementById('call').onclick = function() {
        bridge.callHandler('hello', null, function(response) {
            log('hello answers', response);
        });
    };
});
