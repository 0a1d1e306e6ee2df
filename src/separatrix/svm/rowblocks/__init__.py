"""The optimum over blocks of rows: a solver sees sums over rows, and what is kept for a row stays with its block.

``block`` is the arithmetic of one block, in the functions of the array API standard. The solvers see a ``store`` of
blocks: ``newton`` (log loss, squared hinge), ``smoothing`` (hinge, by Newton's method) and ``interior`` (hinge). On a
device all rows are one block: ``array_rows`` are its products, and ``device_run`` is what the estimators call.
Elsewhere ``tree`` cuts rows into shards and says in which order sums are added, ``shard`` makes the block of one, with
the products of ``core_rows``; the stores ``sharded`` (memory), ``disk_store`` and ``dask_store`` visit them, and
``block_run`` is what the estimators call.
"""
