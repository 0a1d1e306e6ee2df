// What scorer.js makes of rows and files, good and bad; run by test_export_json.py.
"use strict";
const assert = require("assert");
const fs = require("fs");
const vm = require("vm");

const source = fs.readFileSync(process.argv[2], "utf8");
const separatrix = require(process.argv[2]);
const given = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
const { row } = given;
const [x1, x2, colour, flag] = Object.keys(row);

// Rows by name
const table = separatrix.load(given.table);
assert.deepStrictEqual(separatrix.load(JSON.parse(given.table)).scores(row), table.scores(row));
assert.deepStrictEqual(table.scores(new Map(Object.entries(row))), table.scores(row));
assert.deepStrictEqual(table.columns.map((each) => each.role), ["number", "number", "category", "category"]);
assert.ok(table.columns[2].levels.includes(row[colour]));
assert.ok(table.classes.includes(table.predict(row)));
assert.strictEqual(table.target, "label");
for (const gone of [null, undefined, NaN]) {
  for (const name of [x1, x2, colour, flag]) assert.strictEqual(table.predict({ ...row, [name]: gone }), null);
}
for (const gone of [Infinity, -Infinity, ""]) assert.strictEqual(table.scores({ ...row, [x1]: gone }), null);
assert.strictEqual(table.predict({}), null);
assert.strictEqual(table.predict({ ...row, [colour]: "" }), null);
for (const name of ["never seen", "toString", "__proto__"]) {
  assert.strictEqual(table.predict({ ...row, [colour]: name }), null);
}
assert.strictEqual(table.predict(Object.create(row)), null); // what is inherited is not in the row
assert.deepStrictEqual(table.scores({ ...row, more: 1 }), table.scores(row));
assert.deepStrictEqual(table.scores({ ...row, [flag]: true }), table.scores({ ...row, [flag]: "TRUE" }));
assert.deepStrictEqual(table.scores({ ...row, [flag]: 1 }), table.scores({ ...row, [flag]: "True" }));
assert.deepStrictEqual(table.scores({ ...row, [x1]: 170n }), table.scores({ ...row, [x1]: 170 }));
assert.throws(() => table.predict({ ...row, [x1]: "3.5" }), /TypeError: column .* takes a number; found the string "3.5"/);
assert.deepStrictEqual(table.scores({ ...row, [x1]: true }), table.scores({ ...row, [x1]: 1 }));
assert.throws(() => table.predict({ ...row, [x1]: null, [x2]: {} }), /takes a number; found the object/);
assert.throws(() => table.predict({ ...row, [colour]: ["a"] }), /takes a text; found the array/);
for (const bad of [null, undefined, 3, "text", [1, 2, 3, 4], new Float64Array(4)]) {
  assert.throws(() => table.predict(bad), /a row is an object or a Map by column name/);
}

// A model that imputes: what is missing has a prediction, and levels that are not listed are alike
const imputed = separatrix.load(given.imputed);
for (const gone of [null, undefined, NaN]) {
  for (const name of [x1, x2, colour, flag]) {
    assert.ok(imputed.classes.includes(imputed.predict({ ...row, [name]: gone })));
    assert.deepStrictEqual(imputed.scores({ ...row, [name]: gone }), imputed.scores({ ...row, [name]: null }));
    assert.notDeepStrictEqual(imputed.scores({ ...row, [name]: gone }), imputed.scores(row));
  }
}
assert.deepStrictEqual(imputed.scores({}), imputed.scores({ [x1]: null, [x2]: null, [colour]: null, [flag]: null }));
for (const gone of [Infinity, -Infinity]) assert.strictEqual(imputed.scores({ ...row, [x1]: gone }), null);
const other = imputed.scores({ ...row, [colour]: "never seen" });
assert.deepStrictEqual(imputed.scores({ ...row, [colour]: "toString" }), other);
assert.notDeepStrictEqual(imputed.scores({ ...row, [colour]: null }), other);

// Rows without names
const array = separatrix.load(given.array);
const zeros = new Array(array.columns.length).fill(0);
assert.strictEqual(array.scores(zeros).length, 3);
assert.deepStrictEqual(array.scores(new Float32Array(zeros.length)), array.scores(zeros));
assert.throws(() => array.predict(zeros.slice(1)), /a row has 6 numbers; found 5/);
assert.throws(() => array.predict({ x0: 1 }), /a row is an array of numbers here/);

// Names that objects have by themselves
const proto = separatrix.load(given.proto);
const made = (number, text) => JSON.parse(`{"__proto__": ${number}, "constructor": ${JSON.stringify(text)}}`);
assert.deepStrictEqual(proto.scores(made(2, "__proto__")), [21]);
assert.deepStrictEqual(proto.scores(made(2, "toString")), [22]);
assert.deepStrictEqual(proto.scores(new Map([["__proto__", 0], ["constructor", 1]])), [2]);
assert.deepStrictEqual(proto.scores(new Map([["__proto__", 0], ["constructor", true]])), [3]);
assert.strictEqual(proto.predict(made(2, "valueOf")), null);
assert.strictEqual(proto.predict({}), null); // neither Object's constructor nor its prototype is a cell
assert.strictEqual({}.polluted, undefined);

// Models cannot be changed by accident
assert.throws(() => table.classes.push("x"), TypeError);
assert.throws(() => table.columns[0].name = "x", TypeError);

// Files of other formats, versions, or damaged
const changed = (change) => {
  const data = JSON.parse(given.array);
  change(data);
  return () => separatrix.load(data);
};
assert.throws(() => separatrix.load('{"a": 1}'), /this is not a model that separatrix exported as JSON/);
assert.throws(() => separatrix.load("null"), /this is not a model/);
assert.throws(() => separatrix.load("{"), SyntaxError);
assert.throws(changed((data) => (data.version = 2)), /this script reads version 1 of separatrix-scorer; found 2/);
assert.throws(changed((data) => data.decision.weights[0].pop()), /the scorer is damaged: weights should be 6 numbers/);
assert.throws(changed((data) => data.decision.weights.pop()), /damaged/);
assert.throws(changed((data) => (data.decision.bias[0] = null)), /damaged: bias should be numbers/);
assert.throws(changed((data) => (data.decision.type = "constructor")), /no decision is called "constructor"/);
assert.throws(changed((data) => (data.columns[0].role = "else")), /no column can be "else"/);
assert.throws(
  changed((data) => (data.decision.weights[0] = { size: 6, places: [6], values: [1] })), /weights has no place 6/
);

// In a page there is no module: the script leaves one global name
const page = vm.createContext({ TextEncoder });
const before = new Set(Object.getOwnPropertyNames(page));
vm.runInContext(source, page);
const after = Object.getOwnPropertyNames(page).filter((name) => !before.has(name));
assert.deepStrictEqual(after.filter((name) => name === "separatrix"), ["separatrix"]);
page.text = given.table;
page.rowText = JSON.stringify(row);
const answer = vm.runInContext("separatrix.load(text).predict(JSON.parse(rowText))", page);
assert.strictEqual(answer, table.predict(row));
assert.throws(() => separatrix.load({ format: separatrix.FORMAT, version: separatrix.VERSION }), /the scorer is damaged/);
