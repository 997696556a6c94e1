"""The site of the documentation in headless Chromium, from a server on this machine: what only a browser
tells. TARN_TEST_PAGES names the folder of the site.
"""
import functools
import http.server
import os
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import browser

SITE = pathlib.Path(os.environ.get("TARN_TEST_PAGES", "/"))
REQUESTS = "performance.getEntriesByType('resource').map(entry => entry.name)"
FOREIGN = f"{REQUESTS}.filter(name => !name.startsWith(location.origin))"


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Site(browser.PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        cls.address = f"http://127.0.0.1:{server.server_port}/"

    def test_no_page_is_wider_than_a_phone_or_asks_another_host(self):
        self.show(browser.PHONE, "light")
        for page in sorted(SITE.rglob("*.html")):
            if page.name == "404.html":  # stands for any address: its links begin with /
                continue
            with self.subTest(page=page.relative_to(SITE)):
                self.browser.get(self.address + str(page.relative_to(SITE)))
                root = "document.documentElement"
                self.assertLessEqual(self.run_js(f"{root}.scrollWidth - {root}.clientWidth"), 0)
                self.assertEqual(self.run_js(FOREIGN), [])

    def test_text_and_links_can_be_read_in_both_schemes(self):
        backgrounds = set()
        for scheme in ("light", "dark"):
            self.show(browser.DESKTOP, scheme)
            self.browser.get(self.address)
            self.run_js("localStorage.clear()")
            self.browser.get(self.address)
            behind = self.run_js("getComputedStyle(document.body).backgroundColor")
            backgrounds.add(behind)
            for selector in ("article p", "article p a", "article h1", "article pre code"):
                colour = self.run_js("getComputedStyle(document.querySelector(arguments[0])).color", selector)
                with self.subTest(scheme=scheme, selector=selector):
                    contrast = browser.contrast(*map(browser.parse_colour, (behind, colour)))
                    self.assertGreaterEqual(contrast, browser.LEAST_CONTRAST)
        self.assertEqual(len(backgrounds), 2)

    def test_the_search_finds_sections_that_have_all_words(self):
        self.show(browser.DESKTOP, "light")
        for words, page in (("allocate_batch", "include/tarn/memory_pool.h.html"),
                            ("double free", "docs/safety.html")):
            self.browser.get(f"{self.address}?q={words}")
            results = "[...document.querySelectorAll('.md-search-result__link')].map(link => link.href)"
            self.wait_until(lambda: self.run_js(results))
            with self.subTest(words=words):
                self.assertIn(page, " ".join(self.run_js(results)))
                missing = "document.querySelectorAll('.md-search-result__terms').length"
                self.assertEqual(self.run_js(missing), 0)


browser.run_checks("TARN_TEST_PAGES")
