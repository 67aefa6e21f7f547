// SPDX-License-Identifier: Apache-2.0
// The text of the page without the parts around it.
class Action {
    run(parameters) {
        const longest = [...document.querySelectorAll('article, main, [role=main]')]
            .sort((one, other) => other.innerText.length - one.innerText.length)[0]
        const text = (longest ?? document.body ?? document.documentElement).innerText
        // Spaces at the ends of lines, and more than one empty line, carry no meaning.
        const readable = text.replace(/[ \t]+$/gm, '').replace(/\n{3,}/g, '\n\n').trim()
        parameters.completionFunction({ URL: document.URL, title: document.title, text: readable })
    }
}

var ExtensionPreprocessingJS = new Action()
