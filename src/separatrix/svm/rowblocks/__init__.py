"""The optimum over blocks of rows, wherever they live: map a function over the blocks, add in a fixed tree.

``tree`` cuts the rows and adds, ``stores`` hold the blocks, ``block`` is the arithmetic of one block, ``newton`` (log
loss, squared hinge) and ``interior`` (hinge) are the solvers, which see sums only. The cut and the tree depend on the
shape of the data alone, so that the result does not depend on how many threads, processes or machines there are.
"""
