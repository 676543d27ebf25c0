/** Bundles the page of the live view from src/livePage. Needs rolldown, which an installed program does not have. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The page's files by name, and the modules in its script. */
export interface BundledPage {
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly modules: readonly string[];
}

/** Returns the page bundled from `root`, the directory of the project. Rejects when the sources cannot be bundled. */
export async function bundlePage(root: string): Promise<BundledPage> {
  const { build } = await import("rolldown");
  const sources = join(root, "src/livePage");
  const { output } = await build({
    input: { page: join(sources, "main.tsx") },
    cwd: root,
    platform: "browser",
    write: false,
    logLevel: "warn",
    tsconfig: join(sources, "tsconfig.json"),
    output: { format: "esm", codeSplitting: false, minify: true, entryFileNames: "[name].js" },
  });
  const [{ code, moduleIds }] = output;
  const text = new TextEncoder();
  return {
    files: new Map([
      ["index.html", await readFile(join(sources, "index.html"))],
      ["page.js", text.encode(code)],
      ["page.css", text.encode(await styles(sources))],
    ]),
    modules: moduleIds,
  };
}

/** Styles of the plots, then those of the page in the order of their names. */
async function styles(sources: string): Promise<string> {
  const plots = fileURLToPath(import.meta.resolve("uplot/dist/uPlot.min.css"));
  const own = (await readdir(join(sources, "styles"))).sort().map((name) => join(sources, "styles", name));
  return (await Promise.all([plots, ...own].map((path) => readFile(path, "utf8")))).join("\n");
}
