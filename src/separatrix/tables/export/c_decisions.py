"""From the numbers of a row to its scores, in C: one function ``@_decide`` for each kind of model, with its arrays.

``@`` stands for the name that everything begins with. ``values->x`` are a row's scaled numbers, ``values->hot`` the
places of the ones of its one-hot encoded categories, or -1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix.tables.export.c_words import numbers
from separatrix.tables.export.kernel_formulas import C, formula_of
from separatrix.tables.export.scorer import LANES, SPARSE_LANES, KernelExpansion, Layers, Linear, Scorer, Voted


class Part(NamedTuple):
    """Some C, how many bytes of stack it takes, and whether it calls ``exp``."""

    text: str
    stack: int = 0
    needs_exp: bool = False


def decision(scorer: Scorer) -> Part:
    """Return the C that turns a row's numbers into scores."""
    made = scorer.decision
    if isinstance(made, Linear):
        part = _linear(made)
    elif isinstance(made, Layers):
        part = _layers(made)
    elif isinstance(made, KernelExpansion):
        part = _kernelled(scorer, made)
    else:
        part = _voted(scorer, made)
    lanes = 8 * (SPARSE_LANES if scorer.sparse else LANES)
    return Part(f"{_product(scorer)}\n\n{part.text}", part.stack + lanes, part.needs_exp)


def _product(scorer: Scorer) -> str:
    """Return the product of a row with weights, added in the order of the package."""
    n, hot = len(scorer.role("number")), scorer.hot
    size = SPARSE_LANES if scorer.sparse else LANES
    lines = [
        f"/* The product of a row with weights; {size} sums, so that the order of additions is separatrix's own. */",
        "static inline double @_product(const @_values *values, const double *weights) {",
        "    SEPARATRIX_NOT_FUSED",
        f"    double sum[{size}] = {{0.0}};",
    ]
    if scorer.sparse:
        lines.append("    int j, next = 0;")
        if n:
            lines += [
                f"    for (j = 0; j < {n}; ++j)",
                f"        if (values->x[j] != 0.0) sum[next++ % {size}] += values->x[j] * weights[j];",
            ]
        if hot:
            lines += [
                f"    for (j = 0; j < {hot}; ++j)",
                f"        if (values->hot[j] >= 0) sum[next++ % {size}] += weights[values->hot[j]];",
            ]
        lines.append("    return (sum[0] + sum[2]) + (sum[1] + sum[3]);")
    else:
        lines.append("    int j, half;")
        if n:
            lines.append(f"    for (j = 0; j < {n}; ++j) sum[j % {size}] += values->x[j] * weights[j];")
        if hot:
            lines += [
                f"    for (j = 0; j < {hot}; ++j)",
                f"        if (values->hot[j] >= 0) sum[values->hot[j] % {size}] += weights[values->hot[j]];",
            ]
        lines += [
            f"    for (half = {size // 2}; half > 0; half /= 2)",
            "        for (j = 0; j < half; ++j) sum[j] += sum[j + half];",
            "    return sum[0];",
        ]
    return "\n".join([*lines, "}"])


def _linear(made: Linear) -> Part:
    return Part(f"""{numbers("@_weights", made.weights)}
{numbers("@_bias", made.bias)}

static inline void @_decide(const @_values *values, double *scores) {{
    int k;
    for (k = 0; k < {len(made.bias)}; ++k) scores[k] = @_product(values, @_weights[k]) + @_bias[k];
}}""")


def _layers(made: Layers) -> Part:
    arrays, body, stack = [], [], 0
    for place, (weights, bias) in enumerate(zip(made.weights, made.biases, strict=True)):
        size, last = len(bias), place == len(made.weights) - 1
        arrays += [numbers(f"@_weights_{place}", weights.T), numbers(f"@_bias_{place}", bias)]
        into = "scores" if last else f"layer_{place}"
        if not last:
            arrays.append("")
            body.append(f"    double layer_{place}[{size}];")
            stack += 8 * size
        if place == 0:
            sums = f"        const double sum = @_product(values, @_weights_{place}[k]) + @_bias_{place}[k];"
        else:
            sums = (
                "        double sum = 0.0;\n"
                f"        for (j = 0; j < {len(weights)}; ++j) sum += layer_{place - 1}[j] * @_weights_{place}[k][j];\n"
                f"        sum += @_bias_{place}[k];"
            )
        output = "sum" if last else "@_sigmoid(sum)"
        body.append(f"    for (k = 0; k < {size}; ++k) {{\n{sums}\n        {into}[k] = {output};\n    }}")
    declared = [line for line in body if line.startswith("    double")]
    loops = [line for line in body if not line.startswith("    double")]
    inner = "k, j" if len(loops) > 1 else "k"
    text = "\n".join(
        [
            *(line for line in arrays if line),
            "",
            "static inline double @_sigmoid(double sum) {",
            "    const double tail = exp(sum < 0.0 ? sum : -sum);",
            "    return (sum < 0.0 ? tail : 1.0) / (1.0 + tail);",
            "}",
            "",
            "static inline void @_decide(const @_values *values, double *scores) {",
            *declared,
            f"    int {inner};",
            *loops,
            "}",
        ]
    )
    return Part(text, stack, len(loops) > 1)


def _kernel(scorer: Scorer, made: KernelExpansion | Voted) -> Part:
    """Return the support vectors, and the kernel of a row with one of them."""
    formula = formula_of(C, made.kernel, "c")(scorer, made)
    lines = [numbers("@_support", made.support), *formula.arrays]
    lines += ["", "static inline double @_kernel(const @_values *values, int i) {", *formula.body, "}"]
    return Part("\n".join(lines), 0, formula.needs_exp)


def _kernelled(scorer: Scorer, made: KernelExpansion) -> Part:
    kernel = _kernel(scorer, made)
    size, classes = len(made.bias), len(scorer.classes)
    sums = f"""{numbers("@_coefficients", made.coef)}
{numbers("@_bias", made.bias)}

{kernel.text}

"""
    if not made.pairs:
        text = f"""static inline void @_decide(const @_values *values, double *scores) {{
    int i, k;
    for (k = 0; k < {size}; ++k) scores[k] = 0.0;
    for (i = 0; i < {len(made.support)}; ++i) {{
        const double value = @_kernel(values, i);
        for (k = 0; k < {size}; ++k) scores[k] += value * @_coefficients[i][k];
    }}
    for (k = 0; k < {size}; ++k) scores[k] += @_bias[k];
}}"""
        return Part(sums + text, 0, kernel.needs_exp)
    text = f"""/* One-vs-one: a score is the votes of a class, plus a fraction for the size of its activations. */
static inline void @_decide(const @_values *values, double *scores) {{
    double sum[{size}] = {{0.0}}, clear[{classes}] = {{0.0}};
    int i, k, first, second;
    for (i = 0; i < {len(made.support)}; ++i) {{
        const double value = @_kernel(values, i);
        for (k = 0; k < {size}; ++k) sum[k] += value * @_coefficients[i][k];
    }}
    for (first = 0; first < {classes}; ++first) scores[first] = 0.0;
    for (first = 0, k = 0; first < {classes}; ++first) {{
        for (second = first + 1; second < {classes}; ++second, ++k) {{
            const double activation = sum[k] + @_bias[k];
            clear[first] += activation;
            clear[second] -= activation;
            scores[activation >= 0.0 ? first : second] += 1.0;
        }}
    }}
    for (k = 0; k < {classes}; ++k)
        scores[k] += clear[k] / (3.0 * ((clear[k] < 0.0 ? -clear[k] : clear[k]) + 1.0));
}}"""
    return Part(sums + text, 8 * (size + classes), kernel.needs_exp)


def _voted(scorer: Scorer, made: Voted) -> Part:
    kernel = _kernel(scorer, made)
    ends = np.cumsum([0, *(len(each.rows) for each in made.voters)])
    totals = [float(each.counts.sum()) for each in made.voters]
    start = "@_bias[k]"
    lines = []
    if any(each.start.any() for each in made.voters):
        lines.append(numbers("@_start", np.stack([each.start for each in made.voters])))
        start = "@_product(values, @_start[k]) + @_bias[k]"
    lines += [
        numbers("@_bias", [float(each.bias) for each in made.voters]),
        "/* For each task: where its mistakes begin and end, the votes of its first voter, and of all voters. */",
        numbers("@_ends", ends),
        numbers("@_first_counts", [float(each.counts[0]) for each in made.voters]),
        numbers("@_totals", [total if total > 0 else 1.0 for total in totals]),
        numbers("@_constants", [float(each.square) for each in made.voters]),
        "/* For each mistake: the support vector, the step, and the votes of the voter that it made. */",
        numbers("@_rows", np.concatenate([each.rows for each in made.voters]).astype(np.int64)),
        numbers("@_steps", np.concatenate([each.signed for each in made.voters])),
        numbers("@_counts", np.concatenate([each.counts[1:] for each in made.voters])),
        "",
        kernel.text,
        "",
    ]
    tie = "1.0" if scorer.tie_is_positive else "-1.0"
    return Part(
        "\n".join(lines)
        + f"""
static inline double @_vote(double activation, double count) {{
    return count * (activation > 0.0 ? 1.0 : activation < 0.0 ? -1.0 : {tie});
}}

/* A score is the fraction of votes for the class minus the fraction against it. */
static inline void @_decide(const @_values *values, double *scores) {{
    SEPARATRIX_NOT_FUSED
    int k, j;
    for (k = 0; k < {len(made.voters)}; ++k) {{
        const double start = {start};
        double votes = @_vote(start, @_first_counts[k]), grown = 0.0;
        for (j = @_ends[k]; j < @_ends[k + 1]; ++j) {{
            grown += @_steps[j] * (@_kernel(values, @_rows[j]) + @_constants[k]);
            votes += @_vote(grown + start, @_counts[j]);
        }}
        scores[k] = votes / @_totals[k];
    }}
}}""",
        0,
        kernel.needs_exp,
    )
