"""axe-core on all pages, in Chromium: each state of a page, in light and dark, wide and narrow."""
from pathlib import Path

import fetched
import scenarios
from browser import Chromium, missing
from browser_stage import Stage as ActionStage
from extension import ActionRig, InChromium, Site
from report import Skipped
from rig import Rig

# All of axe's rules, also those that no standard asks for.
ASK = """
    if (!window.axe) { (0, eval)(arguments[0]) }
    return axe.run(document, { resultTypes: ['violations'], ...arguments[1] }).then(({ violations }) => violations.flatMap(each =>
        each.nodes.map(node => `${each.impact} ${each.id}: ${each.help}: ${node.html.slice(0, 150)} (${node.any.concat(node.all).map(one => one.message).join(' ')})`)))"""
NARROW, WIDE = (320, 800), (1280, 900)


def violations(browser, text):
    """What axe finds on the page that is shown."""
    found = []
    for theme, size, options in (("light", WIDE, {}), ("dark", WIDE, {"runOnly": ["color-contrast"]}), ("light", NARROW, {})):
        browser.theme(theme)
        browser.size(*size)
        # Who waits for a dialog is busy.
        browser.wait(f"{scenarios.SETTLED} || document.querySelector('dialog[open]')")
        found += [f"{theme}, {size[0]} pixels: {each}" for each in browser.run(ASK, text, options)]
    browser.size(*WIDE)
    return found


# Each brings a page to a state.


def log_in(stage):
    """the log-in, refused"""
    stage.log_out("axe")
    stage.browser.type("#token", "wrong")
    stage.browser.click("#enter")
    stage.browser.wait_text("#says", "That is not a token")


def catalogue(stage):
    """the catalogue"""
    scenarios.show(stage, "")


def catalogue_used(stage):
    """the catalogue in use"""
    browser = stage.browser
    stage.rig.call("rec", "axe.caf", "start")
    stage.rig.call("rec", "axe.caf", "stop")
    scenarios.show(stage, "")
    browser.wait("document.querySelector('#media li')")
    browser.click("[data-run=getGPSLocation]")
    browser.wait("document.getElementById('locDisplay').textContent")
    browser.click("[data-run=findNearby]")
    browser.wait_text("#nearby", "amera")
    browser.run("document.getElementById('file').value = 'nothing.caf'; return null")
    browser.click("[data-run=playRecording]")
    browser.wait(scenarios.says("#level") + " !== ''")


def picker(stage):
    """the catalogue's picker"""
    scenarios.show(stage, "")
    stage.browser.click("[data-run=showDateSelector]")
    stage.browser.wait("document.getElementById('picker').open")


def macro_code(stage):
    """a macro's code"""
    scenarios.show(stage, "macros.html")
    stage.browser.click("#macros button:first-child")
    stage.browser.wait_text("#code-name", "add")


def macro_edit(stage):
    """the macros' editor"""
    scenarios.show(stage, "macros.html")
    scenarios.open_editor(stage, "addInner")


def macro_history(stage):
    """a macro's history"""
    scenarios.show(stage, "macros.html")
    browser = stage.browser
    browser.wait("document.querySelectorAll('#history-of option').length >= 5")
    browser.click("#tab-history")
    browser.wait("document.querySelector('#versions li')")
    browser.click("#versions li button")
    browser.wait("!document.getElementById('old').hidden")


def macro_trace(stage):
    """a macro's trace"""
    scenarios.show(stage, "macros.html")
    browser = stage.browser
    browser.wait("document.querySelectorAll('#trace-of option').length >= 5")
    browser.click("#tab-trace")
    browser.run("document.getElementById('trace-of').value = 'addRandom'; return null")
    browser.click("#trace")
    browser.wait("document.querySelector('#calls tbody tr')")


def macro_mistake(stage):
    """a macro's mistake"""
    scenarios.show(stage, "macros.html")
    stage.browser.click("#macros button:nth-child(5)")
    stage.browser.wait("document.getElementById('mistake').open")


def macro_naming(stage):
    """a new macro"""
    scenarios.show(stage, "macros.html")
    scenarios.open_editor(stage, "addInner")
    stage.browser.click("#new")
    stage.browser.wait("document.getElementById('naming').open")


def procedure_plot(stage):
    """a procedure's plot and table"""
    scenarios.choose_procedure(stage, "numbers")
    scenarios.run_procedure(stage.browser, '"days"')
    stage.browser.run("document.getElementById('table-part').open = true; return null")


def procedure_mistake(stage):
    """a procedure's mistake"""
    scenarios.choose_procedure(stage, "mistaken")
    scenarios.run_procedure(stage.browser, "[1]")


def procedures_closed(stage):
    """procedures, to who may not"""
    stage.log_in("eve")
    stage.open("procedures.html")
    stage.browser.wait("!document.getElementById('closed').hidden")


def state(stage):
    """the state"""
    scenarios.show(stage, "state.html")


def logged_out(stage):
    """a page whose session has ended"""
    stage.open("state.html")
    stage.who = None
    stage.browser.run("return fetch('logout', {method: 'POST'}).then(() => null)")
    stage.browser.wait_text(".banner", "You are logged out.")


def book(stage):
    """the book's catalogue"""
    stage.open("examples/catalog/")


def bridge(stage):
    """the bridge's example"""
    stage.open("examples/bridge/")
    stage.browser.click("#call")
    stage.browser.wait("document.querySelector('#log li')")


PAGES = (
    log_in, catalogue, catalogue_used, picker, macro_code, macro_edit, macro_history, macro_trace, macro_mistake, macro_naming,
    procedure_plot, procedure_mistake, procedures_closed, state, logged_out, book, bridge)


def menu(stage):
    """the extension's menu"""
    stage.page_with("page-title")
    stage.menu()


def action(stage):
    """an action's editor"""
    stage.page_with("page-title")
    stage.editor()


def action_mistake(stage):
    """an action's mistake"""
    stage.editing("let = = 1\n")
    stage.done()
    stage.says("The script has a mistake.")


def action_naming(stage):
    """an action's script that gets a name"""
    stage.editing("document.title")
    stage.browser.click("#save")
    stage.browser.wait("document.getElementById('naming').open")


ACTIONS = menu, action, action_mistake, action_naming


class Pages:
    """The pages as the gateway serves them."""

    def __init__(self, programs):
        self.rig = Rig(programs)
        self.rig.__enter__()
        self.browser = Chromium()
        self.stage = scenarios.Stage(self.rig, self.browser, Path())

    def fresh(self):
        self.stage.log_in()

    def close(self):
        self.browser.close()
        self.rig.__exit__()


class Actions:
    """The extension, whose editor is the kiosk's, too."""

    def __init__(self, programs):
        self.rig = ActionRig(programs)
        self.rig.__enter__()
        self.browser = InChromium(self.rig)
        self.browser.allow_scripts()
        self.site = Site()
        self.stage = ActionStage(self.rig, self.browser, self.site, Path())

    def fresh(self):
        self.stage.fresh()

    def close(self):
        self.browser.close()
        self.site.shutdown()
        self.rig.__exit__()


def group(kind, places, programs):
    """Of each state a title and a body; the programs run from the first one to the last one."""
    begun = []

    def begin():
        if not begun:
            try:
                reason = missing(Chromium)
                if reason:
                    raise Skipped(reason)
                text = fetched.axe()
                begun.append((kind(programs), text))
            except Exception as error:  # Once is enough.
                begun.append(error)
        if isinstance(begun[0], Exception):
            raise begun[0]
        return begun[0]

    def test(place):
        def body():
            opened, text = begin()
            opened.fresh()
            place(opened.stage)
            found = violations(opened.browser, text)
            assert not found, "\n".join(sorted(found))
        return body

    try:
        for place in places:
            yield f"axe: {place.__doc__}", test(place)
    finally:
        if begun and not isinstance(begun[0], Exception):
            begun[0][0].close()


def tests(programs):
    yield from group(Pages, PAGES, programs)
    yield from group(Actions, ACTIONS, programs)
