// CSV text to columns and back: delimiter, header and decimal comma are found out; nothing in the text is trusted.
import { shortened } from "./text.mjs";

export const MOST_BYTES = 4_000_000;
export const MOST_POINTS = 20_000;
const MOST_COLUMNS = 200;
const LARGEST = 1e9; // of a coordinate; exact signs of areas need room
const SMALLEST = 1e-9;

// The cells of CSV text, row by row.
export function cellsOf(text, delimiter) {
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  for (let k = 0; k < text.length; k += 1) {
    const letter = text[k];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[k + 1] === '"') {
        cell += '"';
        k += 1;
      } else quoted = false;
    } else if (letter === '"' && cell.trim() === "") {
      quoted = true;
      cell = "";
    } else if (letter === delimiter) {
      row.push(cell);
      cell = "";
    } else if (letter === "\n" || letter === "\r") {
      if (letter === "\r" && text[k + 1] === "\n") k += 1;
      rows.push([...row, cell]);
      row = [];
      cell = "";
    } else {
      cell += letter;
    }
  }
  if (cell !== "" || row.length) rows.push([...row, cell]);
  return rows.filter((each) => each.some((value) => value.trim() !== ""));
}

function delimiterOf(text) {
  const head = text.split(/\r?\n/, 5);
  const counts = ["\t", ";", ",", "|"].map((each) => [
    each,
    Math.min(...head.filter(Boolean).map((line) => line.split(each).length - 1)),
  ]);
  const [best, count] = counts.reduce((a, b) => (b[1] > a[1] ? b : a));
  return count > 0 ? best : ",";
}

function numberOf(cell, comma) {
  const text = cell.trim().replace("−", "-");
  const plain = comma ? text.replace(",", ".") : text;
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}

// Read a table: {names, columns: [{numbers, texts}], rows} or throw an error whose message says what to do.
export function readTable(text) {
  if (text.length > MOST_BYTES)
    throw new Error(
      `The text has ${(text.length / 1e6).toFixed(1)} million characters; at most ${MOST_BYTES / 1e6} million are read.`,
    );
  const clean = text.replace(/^\ufeff/, "");
  const delimiter = delimiterOf(clean);
  const rows = cellsOf(clean, delimiter);
  if (rows.length < 2) throw new Error("No table was found: at least a row of names and a row of numbers are needed.");
  const width = Math.min(Math.max(...rows.slice(0, 100).map((row) => row.length)), MOST_COLUMNS);
  if (width < 3) throw new Error("Three columns are needed: two with numbers and one with the class.");
  const comma = delimiter !== ",";
  const named = rows[0].every((cell) => Number.isNaN(numberOf(cell, comma)));
  const body = named ? rows.slice(1) : rows;
  if (body.length > MOST_POINTS)
    throw new Error(
      `The table has ${body.length.toLocaleString("en")} rows; at most ${MOST_POINTS.toLocaleString("en")} are read.`,
    );
  const columns = Array.from({ length: width }, (_, j) => {
    const texts = body.map((row) => (row[j] ?? "").trim());
    const numbers = texts.map((cell) => numberOf(cell, comma));
    const filled = texts.filter(Boolean).length;
    return {
      texts,
      numbers,
      numeric: filled > 0 && numbers.filter((value) => !Number.isNaN(value)).length >= 0.9 * filled,
    };
  });
  const names = Array.from({ length: width }, (_, j) => shortened((named && rows[0][j]?.trim()) || `column ${j + 1}`));
  return { names, columns, rows: body.length };
}

const levelsOf = (column) => new Set(column.texts.filter(Boolean));

// Which columns are probably meant: {x, y, label}.
export function guessColumns({ names, columns }) {
  const few = columns.map((column, j) => [levelsOf(column).size, j]).filter(([size]) => size >= 2 && size <= 20);
  const meant = (j) => /^(label|class|target|species|y|outcome|group)$/i.test(names[j]);
  const label =
    few.find(([, j]) => meant(j)) ??
    few.filter(([, j]) => !columns[j].numeric).pop() ??
    few.filter(([size]) => size === 2).pop() ??
    few[few.length - 1];
  if (!label) throw new Error("No column has between 2 and 20 different values, as a class must.");
  const numeric = columns.map((_, j) => j).filter((j) => columns[j].numeric && j !== label[1]);
  if (numeric.length < 2) throw new Error("Two columns with numbers are needed besides the class.");
  return { x: numeric[0], y: numeric[1], label: label[1] };
}

// The points of chosen columns; class 1 is `positive`, class 0 the other value, or all others.
export function pointsOf({ names, columns }, { x, y, label, positive }) {
  const levels = [...levelsOf(columns[label])].sort((a, b) => Number(a) - Number(b) || (a < b ? -1 : 1));
  const one = levels.includes(positive) ? positive : levels[levels.length - 1];
  const points = [];
  let dropped = 0;
  columns[label].texts.forEach((text, k) => {
    const at = [columns[x].numbers[k], columns[y].numbers[k]];
    const fits = at.every(
      (value) => Number.isFinite(value) && Math.abs(value) <= LARGEST && (value === 0 || Math.abs(value) >= SMALLEST),
    );
    if (fits && text) points.push({ x: at[0], y: at[1], c: text === one ? 1 : 0 });
    else dropped += 1;
  });
  const others = levels.filter((each) => each !== one);
  return {
    points,
    dropped,
    levels,
    names: [names[x], names[y]],
    labels: [others.length === 1 ? shortened(others[0]) : `not ${shortened(one, 40)}`, shortened(one)],
  };
}

const quotedCell = (text) => {
  const safe = /^[=+@\t\r]/.test(text) || (text.startsWith("-") && Number.isNaN(Number(text))) ? `'${text}` : text; // no formula of a spreadsheet
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export function csvOf({ points, names, labels }) {
  const head = [...names, "label"].map(quotedCell).join(",");
  return `${[head, ...points.map(({ x, y, c }) => [x, y, quotedCell(labels[c])].join(","))].join("\n")}\n`;
}
