// The page's side of the worker: questions and answers, and of questions that follow one another fast only the newest.

export class Client {
  constructor(worker) {
    this.worker = worker;
    this.number = 0;
    this.open = new Map();
    this.waiting = new Map();
    this.onProblem = () => {};
    worker.onmessage = ({ data }) => {
      const { id, problem, ...answer } = data;
      const { resolve, reject } = this.open.get(id);
      this.open.delete(id);
      if (problem) reject(new Error(problem));
      else resolve(answer);
    };
  }

  ask(method, request = {}) {
    this.number += 1;
    const id = this.number;
    this.worker.postMessage({ id, method, ...request });
    return new Promise((resolve, reject) => this.open.set(id, { resolve, reject }));
  }

  // Ask, once the last question of this name is answered; of those that wait meanwhile only the newest is asked. `then`
  // gets the answers in order.
  async newest(name, method, request, then) {
    if (this.waiting.has(name)) {
      this.waiting.set(name, { method, request, then });
      return;
    }
    this.waiting.set(name, null);
    for (let next = { method, request, then }; next;) {
      this.waiting.set(name, null);
      try {
        next.then(await this.ask(next.method, next.request));
      } catch (problem) {
        this.onProblem(problem);
      }
      next = this.waiting.get(name);
    }
    this.waiting.delete(name);
  }
}

// The worker of this page: its source and the core are texts of the page, so that it works from a file too.
export async function startWorker() {
  const source = document.getElementById("worker").textContent;
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(url);
  const letters = atob(document.getElementById("core").textContent.trim());
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k += 1) bytes[k] = letters.charCodeAt(k);
  await new Promise((resolve, reject) => {
    worker.onmessage = resolve;
    worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
    worker.postMessage(bytes, [bytes.buffer]);
  });
  worker.onerror = null;
  return new Client(worker);
}
