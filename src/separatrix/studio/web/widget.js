// The studio in a notebook's cell: a frame that may do nothing but run the page, which tells what it shows.
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.title = "separatrix studio";
  frame.setAttribute("sandbox", "allow-scripts allow-downloads");
  frame.style.cssText = "width: 100%; height: 62rem; border: 0; border-radius: 0.6rem;";
  frame.srcdoc = model.get("page");
  const receive = (event) => {
    if (event.source !== frame.contentWindow || typeof event.data?.estimator !== "string") return;
    model.set("run", event.data);
    model.save_changes();
  };
  window.addEventListener("message", receive);
  el.append(frame);
  return () => window.removeEventListener("message", receive);
}

export default { render };
