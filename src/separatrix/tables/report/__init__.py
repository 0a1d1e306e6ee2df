"""The report of a model: one self-contained HTML page.

``page`` puts it together from sections, one file each; ``elements`` writes and escapes all text; ``blocks`` are tables
and figures; ``rows`` makes one pass over the rows of a source; ``drawing`` and ``axes`` make charts; ``facts`` reads
what the model file says about the fit.
"""
