"""The report of a model: one HTML page that needs nothing else, for people who were not there when it was fitted.

``page`` puts it together from sections, one file each; ``elements`` is the one door through which text comes onto the
page; ``rows`` looks at the rows of a source once; ``drawing`` and ``axes`` make charts.
"""
