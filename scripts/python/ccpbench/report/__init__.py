"""One HTML file of the results in a folder, which opens from disk without a network.

`data` says what the page knows, `command` writes it: page.html with style.css and the three
modules numbers.js, figures.js and page.js, joined in that order.
"""
