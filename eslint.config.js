import regexp from "eslint-plugin-regexp";
import rxjsX from "eslint-plugin-rxjs-x";
import tseslint from "typescript-eslint";

const INTERNALS = { group: ["rxjs/*", "rxjs/internal/*"], message: "Import from `rxjs` only." };

/** Ambient time and randomness: the node must run in virtual time from a seed. */
const AMBIENT = ["Date", "performance", "setTimeout", "setInterval", "setImmediate", "queueMicrotask"].map((name) => ({
  name,
  message: "Time is injected: use Clock (src/ports/clock.ts).",
}));
const AMBIENT_CALLS = [
  { object: "process", property: "nextTick", message: "Time is injected: use Clock." },
  { object: "process", property: "hrtime", message: "Time is injected: use Clock." },
  { object: "Math", property: "random", message: "Randomness is injected: use Rng (src/ports/random.ts)." },
  { object: "crypto", property: "randomUUID", message: "Randomness is injected: use Rng." },
  { object: "crypto", property: "randomBytes", message: "Randomness is injected: use Rng." },
];

const FLATTENING = ["mergeMap", "concatMap", "groupBy", "interval", "exhaustMap"];
const SCHEDULER_LAST =
  "[callee.name=/^(timer|delay|debounceTime|throttleTime|auditTime|sampleTime|timestamp|timeInterval)$/]";

const subscribeBan = {
  selector: "CallExpression[callee.property.name='subscribe']",
  message: "subscribe belongs to main.ts, sim, server, embeddedRuntime and operators: return the Observable instead.",
};
const schedulerRule = {
  selector: `CallExpression${SCHEDULER_LAST}[arguments.length=1]`,
  message: "Pass clock.scheduler: time is injected.",
};
const numericRetry = {
  selector: "CallExpression[callee.name=/^(retry|repeat)$/] > Literal",
  message: "The numeric form ignores the scheduler: pass a notifier function.",
};
const handledFailure = {
  selector: "CallExpression[callee.name='catchError'] > ArrowFunctionExpression[params.length=0]",
  message: "A broken invariant may not be swallowed: use orElse, or look at the error with toKubeletError.",
};
const shareReplayForm = {
  selector: "CallExpression[callee.name='shareReplay']:not([arguments.0.type='ObjectExpression'])",
  message: "shareReplay only as { bufferSize: 1, refCount: true }.",
};

const recursiveMkdir = {
  selector:
    ":matches(CallExpression[callee.name=/^mkdir/], CallExpression[callee.property.name=/^mkdir/]) Property[key.name='recursive']",
  message: "Use makeDirectories: Node's recursive mkdir never returns for a new name in /proc.",
};
const madeExpression = {
  selector: "NewExpression[callee.name='RegExp']",
  message: "An expression made of text can backtrack: match wildcards with src/core/glob.ts, or compare the text.",
};

const restrictedImports = (extraPaths = []) => [
  "error",
  {
    patterns: [INTERNALS],
    paths: extraPaths,
  },
];

export default tseslint.config(
  { ignores: ["src/gen/**", "dist/**", "node_modules/**", "**/*.cjs"] },
  {
    files: ["src/**/*.{ts,tsx}", "test/**/*.ts", "bench/**/*.ts", "scripts/**/*.ts"],
    extends: [tseslint.configs.base],
    plugins: { "rxjs-x": rxjsX },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": [
        "error",
        { checksVoidReturn: { arguments: false, properties: false } },
      ],
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-unnecessary-type-assertion": "error",
      "@typescript-eslint/no-deprecated": "error",
      eqeqeq: "error",
      "no-console": "error",
      "prefer-const": "error",
      "rxjs-x/no-async-subscribe": "error",
      "rxjs-x/no-create": "error",
      "rxjs-x/no-exposed-subjects": "off",
      "rxjs-x/no-ignored-notifier": "error",
      "rxjs-x/no-ignored-replay-buffer": "error",
      "rxjs-x/no-internal": "error",
      "rxjs-x/no-nested-subscribe": "error",
      "rxjs-x/no-redundant-notify": "error",
      "rxjs-x/no-unbound-methods": "error",
      "rxjs-x/no-unsafe-subject-next": "error",
      "rxjs-x/no-unsafe-takeuntil": "error",
      "rxjs-x/no-topromise": "error",
    },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    rules: {
      // A rejection that nobody hears is a bug: each promise is awaited or has a handler, `void` is none.
      "@typescript-eslint/no-floating-promises": ["error", { ignoreVoid: false }],
      "@typescript-eslint/no-misused-promises": "error",
      "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
      "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      "no-restricted-globals": ["error", ...AMBIENT],
      "no-restricted-properties": ["error", ...AMBIENT_CALLS],
      "no-restricted-imports": restrictedImports([
        {
          name: "rxjs",
          importNames: FLATTENING,
          message: "Banned outside operators/: pick the flattening by meaning.",
        },
      ]),
      "no-restricted-syntax": [
        "error",
        subscribeBan,
        schedulerRule,
        numericRetry,
        shareReplayForm,
        handledFailure,
        madeExpression,
        recursiveMkdir,
        { selector: "ExportDefaultDeclaration", message: "No default exports." },
      ],
    },
  },
  {
    files: [
      "src/operators/**",
      "src/main.ts",
      "src/sim/**",
      "src/server/**",
      "src/embeddedRuntime/**",
      "src/state/**",
      "src/commands/**",
    ],
    rules: {
      "no-restricted-imports": restrictedImports(),
      "no-restricted-syntax": [
        "error",
        schedulerRule,
        numericRetry,
        shareReplayForm,
        handledFailure,
        madeExpression,
        recursiveMkdir,
      ],
    },
  },
  {
    // Regular expressions read foreign text: none may take more than linear time.
    files: ["src/**/*.{ts,tsx}"],
    plugins: { regexp },
    rules: {
      "regexp/no-super-linear-backtracking": ["error", { report: "potential" }],
      "regexp/no-super-linear-move": ["error", { report: "potential" }],
    },
  },
  {
    // The page lives in a browser's time; its model does not.
    files: ["src/livePage/**"],
    ignores: ["src/livePage/model/**"],
    rules: { "no-restricted-globals": "off", "no-restricted-properties": "off" },
  },
  {
    // Foreign text becomes text nodes only, and the page has no style attributes that its content policy forbids.
    files: ["src/livePage/**"],
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector: "[name=/^(innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacentHTML)$/]",
          message: "Show text.",
        },
        { selector: "ExportDefaultDeclaration", message: "No default exports." },
        madeExpression,
      ],
    },
  },
  {
    files: ["src/sources/systemClock.ts", "src/cli/**", "src/embeddedRuntime/**"],
    rules: { "no-restricted-globals": "off", "no-restricted-properties": "off" },
  },
  {
    // Regular expressions of the simulator read what the scenario itself says.
    files: ["src/sim/**"],
    rules: {
      "regexp/no-super-linear-backtracking": "off",
      "regexp/no-super-linear-move": "off",
      "no-restricted-syntax": ["error", schedulerRule, numericRetry, shareReplayForm, handledFailure, recursiveMkdir],
    },
  },
  {
    files: ["src/kubelet.ts"],
    rules: { "max-lines": ["error", { max: 220 }] },
  },
  { files: ["src/cli/**", "bench/**", "scripts/**", "test/sim/scenarios/**"], rules: { "no-console": "off" } },
  {
    files: ["test/**/*.ts", "bench/**/*.ts"],
    rules: {
      "no-restricted-imports": ["error", { patterns: [{ ...INTERNALS, group: ["rxjs/internal/*"] }] }],
    },
  },
);
