"""The optimum over blocks of rows: a solver sees sums over rows, and what is kept for a row stays with its block.

``block`` is the arithmetic of one block, in the functions of the array API standard; ``array_rows`` are the products
with rows on a device, ``store`` holds them; ``newton`` (log loss, squared hinge) and ``interior`` (hinge) are the
solvers, and ``device_run`` is what the estimators call.
"""
