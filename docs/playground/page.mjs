// The text goes to a worker, so that the page answers while Python starts and lints.
const text = document.getElementById("playground-text");
const output = document.getElementById("playground-output");
const button = document.getElementById("playground-lint");
const worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });

worker.onmessage = ({ data }) => {
  output.textContent = data;
  button.disabled = false;
};
worker.onerror = (event) => {
  output.textContent = `The linter did not start: ${event.message || "this browser has no module workers"}`;
};
button.onclick = () => {
  button.disabled = true;
  worker.postMessage(text.value);
};
