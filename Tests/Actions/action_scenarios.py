"""What a person does with actions in an ordinary browser. Each test is a function of (stage), and its docstring is its
title."""
from rig import wait_until


def title(stage):
    """`alert(document.title);` shows the title, on a page with the strictest Content-Security-Policy"""
    stage.page_with("page-title")
    view = stage.editor()
    assert stage.browser.value("document.querySelector('h1').textContent") == "strict title"
    stage.write("alert(document.title);")
    stage.browser.picture(stage.pictures / f"action-{stage.browser.name}.png")
    stage.done()
    assert stage.alert() == "strict title"
    stage.wait_gone(view)


def variables(stage):
    """What is typed sees the page's own variables"""
    view = stage.editing("document.title = pagesOwn + location.pathname", page="own")
    stage.done()
    stage.wait_gone(view)
    assert stage.page_title() == "seen/own"


def changed(stage):
    """A page that has changed in between runs nothing, and the text is kept"""
    view = stage.editing("document.title = 'run'")
    stage.show("strict")
    stage.browser.switch(view)
    stage.done()
    stage.says("The page has changed")
    assert stage.text() == "document.title = 'run'"
    assert stage.page_title() == "strict title"


def another_site(stage):
    """A page from elsewhere in the same tab runs nothing"""
    view = stage.editing("document.title = 'run'")
    stage.browser.switch(stage.page)
    stage.browser.open(stage.site.origin.replace("127.0.0.1", "localhost") + "/other")
    stage.browser.switch(view)
    stage.done()
    stage.says("The page has changed")
    assert stage.page_title() == "other title"


def syntax(stage):
    """A mistake in what was typed has its line marked, runs nothing, and the text is kept"""
    text = "document.title = 'run'\nlet = = 1\n"
    view = stage.editing(text)
    stage.done()
    stage.says("The script has a mistake.Line 2")
    assert stage.browser.value("document.querySelector('.lines b').textContent") == "2"
    assert stage.text() == text
    stage.browser.picture(stage.pictures / f"mistake-{stage.browser.name}.png")
    assert stage.page_title() == "strict title"
    # Mended, it runs.
    stage.browser.switch(view)
    stage.write("alert('mended')")
    assert stage.browser.value("document.querySelector('.says').textContent") == ""
    stage.done()
    assert stage.alert() == "mended"


def thrown(stage):
    """An error while it runs comes back with its line, and the text is kept"""
    view = stage.editing("document.title = 'half'\n\nmissing.name")
    stage.done()
    wait_until(lambda: stage.browser.tab() == view, "the view")
    stage.says("Line 3")
    stage.says("missing")
    assert stage.browser.value("document.querySelector('.lines b').textContent") == "3"


def cancelled(stage):
    """Cancel runs nothing, and the text is there the next time"""
    view = stage.editing("document.title = 'run'")
    stage.browser.click("#cancel")
    stage.wait_gone(view)
    assert stage.page_title() == "strict title"
    stage.editor()
    assert stage.text() == "document.title = 'run'"


def scripts(stage):
    """A script is saved by name and site, and removed"""
    browser = stage.browser
    view = stage.editing("alert('saved')")
    browser.click("#save")
    browser.type("#name", "greeting")
    browser.click("#naming button.main")
    browser.wait("document.querySelector('#saved').value === 'greeting'")
    stage.write("")
    browser.click("#cancel")
    stage.wait_gone(view)
    browser.switch(stage.page)
    stage.editor()
    assert browser.value("[...document.querySelectorAll('#saved option')].map(each => each.value).join()") == ",greeting"
    browser.run("const choice = document.querySelector('#saved'); choice.value = 'greeting'; choice.dispatchEvent(new Event('change')); return null")
    assert stage.text() == "alert('saved')"
    browser.click("#remove")
    browser.wait("document.querySelectorAll('#saved option').length === 1")


def too_long(stage):
    """A text beyond all measure is told so, and kept"""
    browser = stage.browser
    stage.page_with("page-title")
    stage.editor()
    for count, words in ((300_000, "256 KiB"), (1_200_000, "more than a mebibyte")):
        browser.run("document.querySelector('textarea').value = '1;'.repeat(arguments[0] / 2); return null", count)
        browser.click("#done")
        stage.says(words)
        browser.wait("!document.querySelector('#done').hasAttribute('aria-busy')")
        assert browser.value("document.querySelector('textarea').value.length") == count


def off(stage):
    """New actions and sites are off, and the menu says how they are allowed"""
    stage.show("strict")
    stage.menu()
    text = stage.browser.text()
    assert f"quickconnect action enable page-title {stage.site.origin}" in text, text
    assert stage.browser.value("document.querySelectorAll('[data-action]').length") == 0
    # Whoever asks the worker past the menu is refused by the host.
    answer = stage.browser.run("""const api = globalThis.browser ?? chrome
        const tab = Number(new URLSearchParams(location.search).get('tab'))
        return api.runtime.sendMessage({ verb: 'begin', tab, action: 'page-title' })""")
    assert answer["error"]["code"] == "denied", answer


def taken_back(stage):
    """What is taken back while the editor is open does not run"""
    stage.editing("document.title = 'run'")
    stage.rig.action("disable", "page-title")
    stage.done()
    stage.says("not allowed")
    assert stage.page_title() == "strict title"


def source(stage):
    """View source and readable text show a text"""
    stage.show("strict")
    for action, part in (("view-source", "<article><h1>strict</h1>"), ("readable-text", "strict\n\nSome text.")):
        stage.allow(action)
        view = stage.editor(action)
        shown = stage.text()
        assert part in shown and stage.browser.value("document.querySelector('textarea').readOnly"), shown
        assert action != "readable-text" or "Menu" not in shown, shown
        stage.done()
        stage.wait_gone(view)
        stage.browser.switch(stage.page)


def log(stage):
    """The address goes to the device's log, by the native host"""
    stage.page_with("address-to-log", page="strict-log")
    stage.choose("address-to-log")
    stage.says("address-to-log: done.")
    wait_until(lambda: f"{stage.site.origin}/strict-log" in stage.rig.log("quickconnectd"), "the line in the log")


def calls(stage):
    """An action has the answers of its calls, and only listed commands"""
    stage.page_with("sounds", "records")
    stage.editor("sounds")
    assert stage.text().endswith(" sounds")
    stage.choose("records")
    stage.says("'rec' is not listed")


def mistakes(stage):
    """A mistake in an action is told with its line"""
    stage.page_with("broken", "throws")
    stage.choose("broken")
    stage.browser.wait("document.querySelector('.says').textContent")
    stage.choose("throws")
    stage.says("nothing")


def small(stage):
    """At 320 × 480 with a keyboard's height taken away, the line that is typed in stays in sight"""
    browser = stage.browser
    stage.page_with("page-title")
    stage.editor()
    if browser.name == "chromium":
        browser.size(320, 480)
    stage.write("\n".join(f"line({number})" for number in range(1, 60)))
    if browser.name == "chromium":
        browser.size(320, 230)
    else:
        browser.size(450, 330)
    browser.wait("innerHeight < 400")
    seen = """(() => {
        const text = document.querySelector('textarea'), style = getComputedStyle(text), height = parseFloat(style.lineHeight)
        const bottom = parseFloat(style.paddingTop) + 59 * height - text.scrollTop
        return bottom <= text.clientHeight + 1 && bottom > height && text.getBoundingClientRect().bottom <= innerHeight
    })()"""
    browser.wait(seen)
    browser.type("textarea", "x")
    assert browser.value(seen)
    browser.picture(stage.pictures / f"small-{browser.name}.png", whole=False)


ALL = [title, variables, changed, another_site, syntax, thrown, cancelled, scripts, too_long, off, taken_back, source, log, calls, mistakes, small]
