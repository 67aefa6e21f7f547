// SPDX-License-Identifier: Apache-2.0
// The page's source, as it is now.
class Action {
    run(parameters) {
        const type = document.doctype ? '<!doctype ' + document.doctype.name + '>\n' : ''
        parameters.completionFunction({ URL: document.URL, title: document.title, text: type + document.documentElement.outerHTML })
    }
}

var ExtensionPreprocessingJS = new Action()
