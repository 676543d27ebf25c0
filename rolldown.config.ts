/**
 * Bundles the program, with its dependencies, into about 170 files. That halves the CPU of a start and saves 30 MiB of
 * memory. Lazily loaded modules are in chunks of their own, as in the sources.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { defineConfig, type Plugin, type RolldownOptions } from "rolldown";
import { type BundledPage, bundlePage } from "./src/server/live/bundlePage.ts";

/** Programs of threads and child processes, which their starters find beside themselves, in the directory of all chunks. */
const PROGRAMS = ["src/commands/simThread.ts", "src/sinks/trees/treeThread.ts", "src/sinks/mounts/insideProgram.ts"];

/** Modules find files by paths relative to `src/ROOM/FILE`; chunks lie as deep, so that these paths stay true. */
const chunksFindFiles: Plugin = {
  name: "chunks find files",
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      const isLost =
        file.type === "chunk" && /import\.meta\.(url|dirname)/.test(file.code) && !/^\w+\//.test(file.fileName);
      if (isLost) this.error(`${file.fileName} reads a path relative to itself, outside the directory of chunks`);
    }
  },
};

const GRPC_REQUIRED = '__require("@grpc/grpc-js")';

/** The exporter of spans requires gRPC while it runs, beside the bundle: it gets the one in the bundle instead. */
const oneGrpc: Plugin = {
  name: "one gRPC",
  transform: {
    filter: { id: /@opentelemetry\/otlp-grpc-exporter-base\// },
    handler: (code) =>
      code.includes(GRPC_REQUIRED)
        ? `import * as bundledGrpc from "@grpc/grpc-js";\n${code.replaceAll(GRPC_REQUIRED, "bundledGrpc")}`
        : null,
  },
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      const isLeft = file.type === "chunk" && /\b__require\("@/.test(file.code);
      if (isLeft) this.error(`${file.fileName} requires a package beside the bundle`);
    }
  },
};

const HTTP = "node:http";
const LEAN_HTTP = "\0leanHttp";

/**
 * An import of `node:http` evaluates all its exports, also those for browsers' sockets, whose implementation takes 13 MiB
 * and the CPU of a third of a start. The bundle takes the module as `require` does, and only the plain exports of it.
 */
const leanHttp: Plugin = {
  name: "lean HTTP",
  resolveId: {
    filter: { id: /^(node:)?http$/ },
    handler: (_id, _importer, { kind }) => (kind === "require-call" ? { id: HTTP, external: true } : LEAN_HTTP),
  },
  load: {
    filter: { id: new RegExp(`^${LEAN_HTTP}$`) },
    handler: () => {
      const exports = Object.entries(Object.getOwnPropertyDescriptors(createRequire(import.meta.url)(HTTP)));
      const plain = exports.flatMap(([name, { get }]) => (get === undefined ? [name] : []));
      return `const http = process.getBuiltinModule("${HTTP}");
        export default http;
        export const { ${plain.join(", ")} } = http;`;
    },
  },
};

/** V8 stores a text with one character above U+00FF in two bytes per character, all of it. */
const oneBytePerCharacter: Plugin = {
  name: "one byte per character",
  generateBundle(_, bundle) {
    for (const file of Object.values(bundle)) {
      if (file.type === "chunk") file.code = file.code.replace(/[\u0100-\uffff]/g, escaped);
    }
  },
};

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

let page: Promise<BundledPage> | undefined;
const bundledPage = (): Promise<BundledPage> => (page ??= bundlePage(import.meta.dirname));

/** The page of the live view, for `src/server/live/pageFiles.ts`. */
const livePage: Plugin = {
  name: "live page",
  async generateBundle() {
    for (const [name, source] of (await bundledPage()).files) {
      this.emitFile({ type: "asset", fileName: `live/${name}`, source });
    }
  },
};

/** The licenses of all packages whose code the bundle contains. */
const licenses: Plugin = {
  name: "licenses",
  async generateBundle() {
    const modules = [...this.getModuleIds(), ...(await bundledPage()).modules];
    const folders = modules.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]);
    const texts = [...new Set(folders)]
      .filter((folder) => folder !== undefined)
      .sort()
      .map((folder) => {
        const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        const files = readdirSync(folder).filter((file) => /^(license|licence|notice)/i.test(basename(file)));
        const text = files.map((file) => readFileSync(join(folder, file), "utf8").trim());
        return [`${name} ${version} (${license})`, ...text].join("\n\n");
      });
    this.emitFile({ type: "asset", fileName: "LICENSES.txt", source: `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n` });
  },
};

/**
 * V8 keeps the text of a module in memory as long as the module: it comes without comments and spaces, and with short local
 * names. Functions and classes keep theirs, which stacks show.
 */
const MINIFIED = {
  compress: false,
  mangle: { toplevel: false, keepNames: true },
  codegen: { removeWhitespace: true },
};

/**
 * The variant of RxJS for modern engines. Its package gives Node the one for old browsers, which is larger, allocates an
 * iterator for each loop over subscriptions, and is bundled as a whole.
 */
const MODERN_RXJS = join(import.meta.dirname, "node_modules/rxjs/dist/esm/index.js");

/** The program of a node. */
export const program = {
  input: {
    main: "src/main.ts",
    ...Object.fromEntries(PROGRAMS.map((path) => [`chunks/${basename(path, ".ts")}`, path])),
  },
  platform: "node",
  resolve: { alias: { rxjs: MODERN_RXJS } },
  // Only the sources bundle the page while they run.
  external: ["rolldown"],
  plugins: [leanHttp, chunksFindFiles, oneGrpc, livePage, licenses, oneBytePerCharacter],
  output: {
    dir: "dist",
    format: "esm",
    chunkFileNames: "chunks/[name].js",
    minify: MINIFIED,
    codeSplitting: { groups: [{ name: "rxjs", test: /[\\/]rxjs[\\/]/ }] },
  },
} as const satisfies RolldownOptions;

/** The simulation as a library: its users' RxJS must be the one that it uses. */
const library: RolldownOptions = {
  input: { index: "src/sim/index.ts" },
  platform: "node",
  external: (id) => !id.startsWith(".") && !id.startsWith("/"),
  output: { dir: "dist/sim", format: "esm", chunkFileNames: "[name].js" },
};

export default defineConfig([program, library]);
