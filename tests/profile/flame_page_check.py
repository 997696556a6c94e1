"""The flame graph's page in a real browser: it stands alone, switches, searches, zooms by click and by
keyboard, and fits a phone.

TARN_TEST_PAGES names the directory that flame_page_samples wrote. Run it with /usr/bin/python3 on Debian,
whose python3-selenium belongs to it.
"""

import os
import pathlib
import sys
import tempfile
import unittest

CHROMIUM, CHROMEDRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
PHONE, DESKTOP = (390, 844), (1280, 900)
PAGES = ("mixed", "large", "empty", "odd")

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None


def what_is_missing():
    if webdriver is None:
        return f"{sys.executable} has no selenium: apt-get install python3-selenium"
    for program, package in ((CHROMIUM, "chromium"), (CHROMEDRIVER, "chromium-driver")):
        if not os.access(program, os.X_OK):
            return f"{program} is missing: apt-get install {package}"
    return None


def start_browser(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(CHROMEDRIVER), options=options)


class FlamePage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(profile.cleanup)
        cls.browser = start_browser(profile.name)
        cls.addClassCleanup(cls.browser.quit)
        cls.pages = pathlib.Path(os.environ["TARN_TEST_PAGES"]).resolve()

    def setUp(self):
        self.open("mixed", DESKTOP)

    def open(self, name, size):
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size == PHONE}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.browser.get((self.pages / f"{name}.html").as_uri())
        WebDriverWait(self.browser, 30).until(
            lambda _: self.run_js("document.documentElement.dataset.drawn !== undefined"))

    def run_js(self, expression, *arguments):
        return self.browser.execute_script(f"return ({expression})", *arguments)

    def words(self):
        return self.run_js("document.getElementById('words').textContent")

    def press(self, *keys):
        for key in keys:
            self.run_js("document.getElementById('graph').dispatchEvent("
                        "new KeyboardEvent('keydown', {key: arguments[0], cancelable: true}))", key)

    def click(self, selector):
        self.run_js("document.querySelector(arguments[0]).click()", selector)

    def width_of(self, node):
        return self.run_js("document.querySelector(`[data-node='${arguments[0]}']`)?.offsetWidth ?? 0", node)

    def test_every_page_is_drawn_alone_and_without_a_word_on_the_console(self):
        for name in PAGES:
            for size in (PHONE, DESKTOP):
                with self.subTest(name=name, size=size):
                    self.open(name, size)
                    self.assertEqual(self.run_js("performance.getEntriesByType('resource').length"), 0)
                    self.assertEqual(self.browser.get_log("browser"), [])
                    self.assertLessEqual(self.run_js("document.documentElement.scrollWidth"), size[0])

    def test_names_with_markup_are_shown_as_text(self):
        self.open("odd", DESKTOP)
        self.assertIn('<b>&"bad"</script>', self.run_js("document.getElementById('title').textContent"))
        self.assertEqual(self.run_js("document.querySelectorAll('main img, main b').length"), 0)

    def test_the_keyboard_explains_calls_and_zooms(self):
        self.press("Home")
        self.assertIn("all: 5.52 KiB in 18 blocks live, 100.0 % of all", self.words())
        self.press("ArrowDown", "ArrowDown")
        self.assertIn("0x101: 4.00 KiB in 4 blocks live, 72.4 % of all", self.words())
        self.press("ArrowRight")
        self.assertIn("0x102: 512 B in 1 block live", self.words())
        before = self.width_of(3)
        self.press("Enter")
        self.assertGreater(self.width_of(3), before)
        self.assertEqual(self.width_of(2), 0)
        self.press("Escape")
        self.assertEqual(self.width_of(3), before)

    def test_a_click_zooms_and_show_all_brings_back(self):
        before = self.width_of(2)
        self.click("[data-node='2']")
        self.assertGreater(self.width_of(2), before)
        self.click("#reset")
        self.assertEqual(self.width_of(2), before)

    def test_allocated_is_another_graph(self):
        self.press("Home")
        self.click("[data-measure='allocated']")
        self.assertIn("9.09 KiB in 16 blocks allocated", self.words())
        self.assertEqual(self.run_js(
            "document.querySelector('[data-measure=allocated]').getAttribute('aria-pressed')"), "true")

    def test_search_marks_and_adds_up(self):
        self.run_js("""(() => { const search = document.getElementById('search'); search.value = '0x10';
            search.dispatchEvent(new Event('input')); })()""")
        self.assertEqual(self.run_js("document.querySelectorAll('#graph .hit').length"), 3)
        self.assertIn("found: 4.55 KiB, 82.3 % of all",
                      self.run_js("document.getElementById('found').textContent"))


if __name__ == "__main__":
    if missing := what_is_missing():
        sys.exit(missing)
    unittest.main()
