"""The studio: the compiled core in a browser, on one's own points, forwards and backwards."""
