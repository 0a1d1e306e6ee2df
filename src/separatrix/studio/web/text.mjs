// Numbers as text, and counts in words.

// A number in at most so many significant digits, with a proper minus sign.
export function shown(value, digits = 4) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text =
    size >= 1e6 || size < 1e-4
      ? value.toExponential(digits - 1).replace(/\.?0+e/, "e")
      : String(Number(value.toPrecision(digits)));
  return text.replaceAll("-", "−");
}

export function times(count, word) {
  return `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
}

// A name as given by somebody, short enough to be shown.
export function shortened(name, most = 60) {
  const text = String(name).replace(/[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, " ");
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
