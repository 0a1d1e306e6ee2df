// Two pens with the same strokes: one for a canvas, one that writes an SVG file. Views are drawn by either.

export class CanvasPen {
  constructor(canvas) {
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    this.context = canvas.getContext("2d");
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.context.clearRect(0, 0, width, height);
    Object.assign(this, { width, height });
  }

  clip(x, y, width, height, draw) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    draw();
    this.context.restore();
  }

  #paint({ fill, stroke, width = 1, dash = [], alpha = 1 }) {
    const { context } = this;
    context.globalAlpha = alpha;
    if (fill) {
      context.fillStyle = fill;
      context.fill();
    }
    if (stroke) {
      Object.assign(context, { strokeStyle: stroke, lineWidth: width, lineJoin: "round" });
      context.setLineDash(dash);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  path(points, style, closed = false) {
    const { context } = this;
    context.beginPath();
    points.forEach(([x, y], k) => (k ? context.lineTo(x, y) : context.moveTo(x, y)));
    if (closed) context.closePath();
    this.#paint(style);
  }

  circle(x, y, radius, style) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.#paint(style);
  }

  rect(x, y, width, height, style) {
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.#paint(style);
  }

  text(text, x, y, { fill, size = 12, align = "left", weight = 400 }) {
    Object.assign(this.context, {
      fillStyle: fill,
      font: `${weight} ${size}px ${FONT}`,
      textAlign: align,
      textBaseline: "middle",
    });
    this.context.fillText(text, x, y);
  }
}

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif';
const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escaped = (text) => String(text).replace(/[&<>"']/g, (letter) => ESCAPES[letter]);
const rounded = (value) => String(Math.round(value * 100) / 100);

export class SvgPen {
  constructor(width, height) {
    Object.assign(this, { width, height });
    this.parts = [];
    this.clips = 0;
  }

  clip(x, y, width, height, draw) {
    this.clips += 1;
    this.parts.push(
      `<clipPath id="clip${this.clips}"><rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"/></clipPath><g clip-path="url(#clip${this.clips})">`,
    );
    draw();
    this.parts.push("</g>");
  }

  #style({ fill, stroke, width = 1, dash = [], alpha = 1 }) {
    const line = stroke
      ? ` stroke="${escaped(stroke)}" stroke-width="${width}" stroke-linejoin="round"${dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : ""}`
      : "";
    return `fill="${escaped(fill ?? "none")}"${line}${alpha === 1 ? "" : ` opacity="${alpha}"`}`;
  }

  path(points, style, closed = false) {
    const steps = points.map(([x, y], k) => `${k ? "L" : "M"}${rounded(x)} ${rounded(y)}`).join("");
    this.parts.push(`<path d="${steps}${closed ? "Z" : ""}" ${this.#style(style)}/>`);
  }

  circle(x, y, radius, style) {
    this.parts.push(`<circle cx="${rounded(x)}" cy="${rounded(y)}" r="${radius}" ${this.#style(style)}/>`);
  }

  rect(x, y, width, height, style) {
    this.parts.push(
      `<rect x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}" ${this.#style(style)}/>`,
    );
  }

  text(text, x, y, { fill, size = 12, align = "left", weight = 400 }) {
    const anchor = { left: "start", center: "middle", right: "end" }[align];
    this.parts.push(
      `<text x="${rounded(x)}" y="${rounded(y)}" fill="${escaped(fill)}" font-size="${size}" font-weight="${weight}" text-anchor="${anchor}" dominant-baseline="central">${escaped(text)}</text>`,
    );
  }

  finish(ground) {
    const { width, height } = this;
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(FONT)}"><rect width="${width}" height="${height}" fill="${escaped(ground)}"/>${this.parts.join("")}</svg>`;
  }
}

// The colours of the page, as its style sheet has them in light or dark.
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ground: colour("card"),
    ink: colour("ink"),
    soft: colour("soft"),
    rule: colour("rule"),
    grid: colour("grid"),
    classes: [colour("c1"), colour("c0")],
    accent: colour("c3"),
    good: colour("good"),
    bad: colour("bad"),
    second: colour("c2"),
  };
}

// Round numbers that divide an axis into about so many parts.
export function ticks(low, high, about) {
  const raw = (high - low) / about;
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const out = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k += 1) out.push(k * step);
  return out;
}
