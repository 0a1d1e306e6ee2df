"""The nodes of an ONNX graph while it grows, and sums of products in the package's own order of additions.

Nothing here knows about models. Names of tensors begin with a prefix that no column begins with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.tables.export.scorer import LANES

OPSET, ML_OPSET, IR_VERSION = 13, 2, 7  # the lowest where sums take their axes as inputs and texts become whole numbers
MOST_PRODUCTS = 1 << 14  # a row: more of them are left to a matrix product, whose order of additions is its own


class Nodes:
    """Nodes and constants, in the order in which they were added.

    Parameters
    ----------
    onnx : module
        The onnx package.
    taken : list of str
        The names of inputs.
    """

    def __init__(self, onnx: Any, taken: list[str]) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._prefix = "_"
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"
        self._count = 0
        self._held: dict[tuple[Any, ...], str] = {}

    def add(self, operator: str, *inputs: Any, domain: str = "", into: str = "", **attributes: Any) -> str:
        """Append a node and return the name of its output; inputs are names or constants."""
        names = [each if isinstance(each, str) else self._constant(np.asarray(each)) for each in inputs]
        into = into or self._name()
        self.nodes.append(self.onnx.helper.make_node(operator, names, [into], domain=domain, **attributes))
        return into

    def column(self, table: str, place: int) -> str:
        """Return one column of a table, as a table."""
        return self.add("Gather", table, np.array([place]), axis=1)

    def any_of(self, flags: str) -> str:
        """Return for each row, as a table of one column, whether one of its flags is set."""
        count = self.add("ReduceSum", self.add("Cast", flags, to=self.onnx.TensorProto.INT64), np.array([1]))
        return self.add("Greater", count, np.array(0))

    def matrix_product(self, x: str, table: Floats) -> str:
        """Return ``x @ table``.

        A product by one number beside a ``MatMul`` becomes a part of it in onnxruntime, with that number rounded to 32
        bits. Tables of one row or one column are multiplied without it; other scales must not be single numbers.
        """
        if len(table) == 1:
            return self.add("Mul", x, table)
        if table.shape[1] == 1:
            return self.add("ReduceSum", self.add("Mul", x, table.T), np.array([1]))
        return self.add("MatMul", x, table)

    def products(self, x: str, rows: Floats, *, in_lanes: bool) -> str:
        """Return the products of each row with each of these: ``in_lanes`` as the core adds up dense rows.

        Number j is added to sum j mod 16; then the sums are added in halves. The rows are turned so that each step is
        about 16 numbers of all of them, which keeps little at a time.
        """
        if not in_lanes or rows.size > MOST_PRODUCTS:
            return self.matrix_product(x, rows.T)
        many, width = rows.shape
        steps = -(-width // LANES)
        padding = steps * LANES - width
        weights = np.pad(rows, ((0, 0), (0, padding))).reshape(many, steps, LANES).transpose(1, 0, 2)[..., None]
        if padding:
            x = self.add("Pad", x, np.array([0, 0, 0, padding]))
        x = self.add("Transpose", self.add("Reshape", x, np.array([0, steps, LANES])), perm=[1, 2, 0])
        sums = self.add("Mul", self.add("Gather", x, np.array(0), axis=0), weights[0])  # (many, lanes, rows of x)
        if steps > 1:
            rest = self.add("Slice", x, np.array([1]), np.array([steps]), np.array([0]))
            sums = self.add("Scan", sums, rest, weights[1:], body=self._step(), num_scan_inputs=2)
        half = LANES // 2
        while half:
            parts = [
                self.add("Slice", sums, np.array([begin]), np.array([begin + half]), np.array([1]))
                for begin in (0, half)
            ]
            sums = self.add("Add", *parts)
            half //= 2
        return self.add("Transpose", self.add("Squeeze", sums, np.array([1])), perm=[1, 0])

    def _step(self) -> Any:
        """Return the graph of one step: sums plus numbers times weights."""
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        sums, numbers, weights, product, out = (self._name() for _ in range(5))
        nodes = [
            helper.make_node("Mul", [numbers, weights], [product]),
            helper.make_node("Add", [sums, product], [out]),
        ]
        inputs = [helper.make_tensor_value_info(name, double, None) for name in (sums, numbers, weights)]
        return helper.make_graph(nodes, "step", inputs, [helper.make_tensor_value_info(out, double, None)])

    def _constant(self, values: Any) -> str:
        values = np.array(values, order="C")
        key = (values.dtype.str, values.shape, tuple(values.tolist()) if values.dtype == object else values.tobytes())
        if key not in self._held:
            self._held[key] = self._name()
            self.constants.append(self.onnx.numpy_helper.from_array(values, self._held[key]))
        return self._held[key]

    def _name(self) -> str:
        self._count += 1
        return f"{self._prefix}{self._count}"
