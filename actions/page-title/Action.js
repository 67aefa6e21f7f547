// SPDX-License-Identifier: Apache-2.0
// The page's title and address, and JavaScript that you type and that runs in the page.
var Action = function() {}

Action.prototype = {
    run: function(parameters) {
        parameters.completionFunction({"URL": document.URL, "title": document.title })
    },

    finalize: function(parameters) {
        var customJavaScript = parameters["customJavaScript"]
        eval(customJavaScript)
    }
}

var ExtensionPreprocessingJS = new Action
