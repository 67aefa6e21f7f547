"""An ordinary browser with a page and the extension's menu for it."""
from extension import BrowserError
from rig import wait_until


class Stage:
    """A browser with a page and the extension's menu for it, each in a tab."""

    def __init__(self, rig, browser, site, pictures):
        self.rig, self.browser, self.site, self.pictures = rig, browser, site, pictures
        self.page = browser.tab()

    def fresh(self):
        """Nothing open, nothing allowed."""
        for tab in self.browser.tabs():
            if tab != self.page:
                try:
                    self.browser.switch(tab)
                    self.browser.close_tab()
                except BrowserError:  # It was closing by itself.
                    pass
        self.browser.switch(self.page)
        for name in ("allowed.json", "scripts.json"):
            (self.rig.folder / "kept" / "actions" / name).unlink(missing_ok=True)

    def show(self, name="strict"):
        self.browser.switch(self.page)
        self.browser.open(f"{self.site.origin}/{name}")

    def allow(self, action):
        self.rig.action("enable", action, self.site.origin)

    def page_with(self, *actions, page="strict"):
        """Shows a page, and allows actions there."""
        self.show(page)
        for action in actions:
            self.allow(action)

    def editing(self, text, page="strict", action="page-title"):
        """The editor of an action for a page, with a text typed in."""
        self.page_with(action, page=page)
        view = self.editor(action)
        self.write(text)
        return view

    def done(self):
        self.browser.click("#done")

    def page_title(self):
        """That of the page, which the browser is at then."""
        self.browser.switch(self.page)
        return self.browser.value("document.title")

    def text(self):
        """What stands in the editor."""
        return self.browser.value("document.querySelector('textarea').value")

    def menu(self):
        """Opens the extension's menu for the page."""
        browser = self.browser
        browser.switch(browser.new_tab())
        browser.open(browser.root + "menu.html?tab=0")
        tab = browser.run("return (globalThis.browser ?? chrome).tabs.query({ url: arguments[0] }).then(([tab]) => tab.id)",
                          "http://127.0.0.1/*")
        browser.open(f"{browser.root}menu.html?tab={tab}")
        browser.wait("document.querySelectorAll('#actions li').length > 0 || document.querySelector('.says').textContent")

    def choose(self, action):
        """Opens the menu and chooses an action; its view is what the browser is at then, where it has one."""
        self.menu()
        before = self.browser.tabs()
        self.browser.click(f"[data-action={action}]")
        return before

    def view(self, before):
        def opened():
            for tab in self.browser.tabs():
                if tab in before:
                    continue
                self.browser.switch(tab)
                if "view.html" in self.browser.url():
                    return tab
            return None

        tab = wait_until(opened, "the action's view")
        self.browser.wait("document.activeElement.tagName === 'TEXTAREA'")
        return tab

    def editor(self, action="page-title"):
        return self.view(self.choose(action))

    def write(self, text):
        self.browser.run("document.querySelector('textarea').value = ''; return null")
        self.browser.type("textarea", text)

    def alert(self):
        """The text of the alert in the page, which is closed."""
        self.browser.switch(self.page)

        def text():
            try:
                return self.browser.alert()
            except BrowserError:
                return None

        found = wait_until(text, "an alert")
        self.browser.accept()
        return found

    def says(self, part):
        self.browser.wait_text(".says", part)

    def wait_gone(self, tab):
        wait_until(lambda: tab not in self.browser.tabs(), "the view's end")
