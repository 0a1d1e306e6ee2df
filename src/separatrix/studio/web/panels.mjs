// The panels beside the plane: data sets, models, columns of a CSV file.
import { SETS, generated } from "./datasets.mjs";
import { $, make, say } from "./dom.mjs";
import { MODELS, accepts, checkedModel, defaultModel, fieldsOf } from "./models.mjs";
import { guessColumns, pointsOf, readTable } from "./csv.mjs";
import { times } from "./text.mjs";

const GENERATOR = {
  n: ["points", 60, 2, 20000, 1],
  noise: ["noise", 0.1, 0, 3, 0.01],
  seed: ["seed", 1, 0, 4294967295, 1],
};

const LONG_PASTE = 50_000; // characters

// A labelled field that tells of every accepted value.
function fieldOf(name, field, value, changed) {
  if (field.type === "choice") {
    const select = make(
      "select",
      { onchange: () => changed(select.value) },
      ...field.options.map(([each, text]) =>
        make("option", { value: each, textContent: text, selected: each === value }),
      ),
    );
    select.dataset.field = name;
    return make("label", {}, field.label, select);
  }
  const input = make("input", {
    type: "number",
    value: String(value),
    step: field.whole ? "1" : "any",
    min: String(field.low),
    max: String(field.high),
  });
  input.dataset.field = name;
  input.addEventListener("change", () => {
    const given = input.valueAsNumber;
    if (accepts(field, given)) changed(given);
    else say(`${field.label} must be ${field.whole ? "a whole number " : ""}from ${field.low} to ${field.high}.`, true);
  });
  return make("label", {}, field.label, input);
}

// Draw the form of model `which`; the focus stays on the field that was changed.
export function showModel(store, which) {
  const place = $(`model-${which}`);
  const model = store.state.models[which];
  const focused = place.contains(document.activeElement) ? document.activeElement.dataset.field : null;
  const put = (next) => {
    const models = [...store.state.models];
    if (next) models[which] = next;
    else models.splice(which, 1);
    store.change({ models });
  };
  const kinds = Object.entries(MODELS).map(([id, { name }]) =>
    make("option", { value: id, textContent: name, selected: id === model?.id }),
  );
  if (which) kinds.unshift(make("option", { value: "", textContent: "none", selected: !model }));
  const chosen = make("select", { onchange: () => put(chosen.value ? defaultModel(chosen.value) : null) }, ...kinds);
  chosen.dataset.field = "id";
  const fields = Object.entries(model ? fieldsOf(model.id) : {})
    .filter(([, field]) => !field.when || field.when(model))
    .map(([name, field]) =>
      fieldOf(name, field, model[name], (value) => put({ ...store.state.models[which], [name]: value })),
    );
  place.replaceChildren(make("label", { className: "wide" }, which ? "Second model" : "Algorithm", chosen), ...fields);
  if (focused) place.querySelector(`[data-field="${focused}"]`)?.focus();
}

export function showData(state) {
  const counts = [0, 1].map((c) => state.points.filter((point) => point.c === c).length);
  $("data-facts").textContent =
    `${times(state.points.length, "point")}: ${counts[1].toLocaleString("en")} of class ${state.labels[1]}, ${counts[0].toLocaleString("en")} of class ${state.labels[0]}.`;
  for (const c of [0, 1]) $(`tool-${c}`).textContent = state.labels[c];
}

// The list of data sets and the numbers of a generator.
export function beginData(store) {
  const select = $("sets");
  select.append(
    make("option", { value: "", textContent: "choose…" }),
    ...Object.entries(SETS).map(([id, { name }]) => make("option", { value: id, textContent: name })),
  );
  const numbers = Object.fromEntries(Object.entries(GENERATOR).map(([name, [, value]]) => [name, value]));
  const use = (merge) => {
    const { model, ...data } = SETS[select.value].make(numbers);
    store.change({ ...data, ...(model ? { models: [checkedModel(model)] } : {}) }, { merge });
  };
  const showGenerator = () => {
    const fields = !generated(select.value)
      ? []
      : Object.entries(GENERATOR).map(([name, [label, , low, high, step]]) => {
          const input = make("input", {
            type: "number",
            value: String(numbers[name]),
            min: String(low),
            max: String(high),
            step: String(step),
          });
          input.addEventListener("change", () => {
            if (input.valueAsNumber >= low && input.valueAsNumber <= high) {
              numbers[name] = name === "noise" ? input.valueAsNumber : Math.round(input.valueAsNumber);
              use(true);
            } else say(`${label} must be from ${low} to ${high}.`, true);
          });
          return make("label", {}, label, input);
        });
    $("generator").replaceChildren(...fields);
  };
  select.addEventListener("change", () => {
    if (generated(select.value)) numbers.noise = SETS[select.value].noise;
    showGenerator();
    if (select.value) use(false);
  });
  $("clear").addEventListener("click", () => store.change({ points: [] }));
}

// Read CSV text, and let columns be chosen.
export function readText(store, text) {
  let table;
  let chosen;
  try {
    table = readTable(text);
    chosen = { ...guessColumns(table), positive: null };
  } catch (problem) {
    say(problem.message, true);
    return;
  }
  $("import").open = true;
  const use = (merge) => {
    const { dropped, levels, ...data } = pointsOf(table, chosen);
    if (!data.points.length) {
      say("No row has two numbers and a class.", true);
      return;
    }
    store.change(data, { merge });
    say(
      `${times(data.points.length, "point")} read${dropped ? `; ${times(dropped, "row")} left out (missing or too large numbers, or no class)` : ""}.`,
    );
    const select = (label, name, options, value) => {
      const list = make(
        "select",
        {
          onchange: () => {
            chosen = {
              ...chosen,
              [name]: name === "positive" ? list.value : Number(list.value),
              ...(name === "label" ? { positive: null } : {}),
            };
            use(true);
          },
        },
        ...options.map(([each, shownAs]) =>
          make("option", { value: String(each), textContent: shownAs, selected: String(each) === String(value) }),
        ),
      );
      list.dataset.field = name;
      return make("label", {}, label, list);
    };
    const columns = table.names.map((name, j) => [j, name]);
    const numeric = columns.filter(([j]) => table.columns[j].numeric);
    const focused = document.activeElement?.dataset?.field;
    $("columns").replaceChildren(
      select("Across", "x", numeric, chosen.x),
      select("Up", "y", numeric, chosen.y),
      select("Class", "label", columns, chosen.label),
      select(
        "Class 1 is",
        "positive",
        levels.slice(0, 50).map((each) => [each, each]),
        chosen.positive ?? levels[levels.length - 1],
      ),
    );
    if (focused) $("columns").querySelector(`[data-field="${focused}"]`)?.focus();
  };
  use(false);
}

export function beginImport(store) {
  const open = (file) => {
    if (!file) return;
    if (file.size > 10_000_000)
      say(`The file has ${(file.size / 1e6).toFixed(1)} MB; files of up to 4 MB are read.`, true);
    else file.text().then((text) => readText(store, text));
  };
  $("csv").addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length < LONG_PASTE) return;
    event.preventDefault(); // a field with so much text takes the browser long to show
    readText(store, text);
  });
  $("read").addEventListener("click", () => readText(store, $("csv").value));
  $("file").addEventListener("change", () => open($("file").files[0]));
  const body = document.body;
  body.addEventListener("dragover", (event) => {
    event.preventDefault();
    body.classList.add("dropping");
  });
  body.addEventListener("dragleave", () => body.classList.remove("dropping"));
  body.addEventListener("drop", (event) => {
    event.preventDefault();
    body.classList.remove("dropping");
    open(event.dataTransfer.files[0]);
  });
}
