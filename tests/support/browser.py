"""A page in a real browser, headless Chromium: what the checks of all pages share.

Run the checks with the interpreter that python3-selenium belongs to: /usr/bin/python3 on Debian. `make check`
installs what they need.
"""

import os
import re
import sys
import tempfile
import unittest

CHROMIUM, CHROMEDRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
PHONE, DESKTOP = (390, 844), (1280, 900)
DEADLINE = 30  # seconds; the largest page is drawn in about one
LEAST_CONTRAST = 4.5

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None


class PageTest(unittest.TestCase):
    """Its class has a browser of its own."""

    @classmethod
    def setUpClass(cls):
        profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(profile.cleanup)
        cls.browser = start_browser(profile.name)
        cls.addClassCleanup(cls.browser.quit)

    @classmethod
    def wait_until(cls, condition):
        WebDriverWait(cls.browser, DEADLINE).until(lambda _: condition())

    @classmethod
    def show(cls, size, scheme):
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
        cls.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        preference = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        cls.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", preference)

    @classmethod
    def run_js(cls, expression, *arguments):
        return cls.browser.execute_script(f"return ({expression})", *arguments)


def start_browser(profile):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(service=Service(CHROMEDRIVER), options=options)


def run_checks(variable):
    """`variable` of the environment names the page, or the directory of the pages."""
    if missing := _what_is_missing(variable):
        sys.exit(missing)
    unittest.main()


def _what_is_missing(variable):
    if webdriver is None:
        return f"{sys.executable} has no selenium: apt-get install python3-selenium, and run /usr/bin/python3"
    for program, package in ((CHROMIUM, "chromium"), (CHROMEDRIVER, "chromium-driver")):
        if not os.access(program, os.X_OK):
            return f"{program} is missing: apt-get install {package}"
    return None if os.path.exists(os.environ.get(variable, "")) else f"{variable} must name what to check"


def contrast(one, other):
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def parse_colour(text):
    return [float(value) for value in re.findall(r"[\d.]+", text)[:3]]


def _luminance(colour):
    channels = [value / 255 for value in colour]
    linear = [value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
