// SPDX-License-Identifier: Apache-2.0
// Writes the page's address to the device's journal.
class Action {
    async run(parameters) {
        await makeCall('logMessage', document.URL)
        parameters.completionFunction({ URL: document.URL, title: document.title })
    }
}

var ExtensionPreprocessingJS = new Action()
