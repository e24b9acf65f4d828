import { loadPyodide } from "./pyodide/pyodide.mjs";

const starting = start();

async function start() {
  const python = await loadPyodide({ indexURL: new URL("pyodide/", import.meta.url).href });
  const archive = await fetch(new URL("trainyard.zip", import.meta.url));
  python.unpackArchive(await archive.arrayBuffer(), "zip", { extractDir: "/opt/trainyard" });
  python.runPython("import sys; sys.path.insert(0, '/opt/trainyard')");
  postMessage("Ready.");
  return python.pyimport("in_browser");
}

onmessage = async ({ data }) => {
  postMessage((await starting).lint(data));
};
