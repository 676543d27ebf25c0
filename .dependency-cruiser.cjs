/** Imports run one way: main -> kubelet -> pipelines -> state -> operators -> core; edges -> ports -> core. */
const only = (name, from, to, comment) => ({
  name,
  severity: "error",
  comment,
  from: { path: from },
  to: { path: "^src/", pathNot: [from, ...to, "^src/gen/"] },
});
/** Directories of src/pipelines and the others that each may use, besides the files of src/pipelines itself. */
const PIPELINE_DIRECTORIES = {
  certificates: [],
  cluster: [],
  csi: [],
  projections: [],
  devices: ["plugins"],
  plugins: [],
  runtime: [],
  stats: [],
  node: [],
  eviction: ["stats"],
  images: ["projections"],
  offline: [],
  volumes: ["projections"],
  dra: [],
  shutdown: [],
  probes: [],
  podWorker: ["devices", "images", "node", "probes", "volumes"],
};
const pipelineDirectory = ([directory, others]) =>
  only(`pipelines-${directory}`, `^src/pipelines/${directory}/`, [
    "^src/(core|ports|operators|state)/",
    "^src/pipelines/[^/]+\\.ts$",
    ...others.map((other) => `^src/pipelines/${other}/`),
  ]);
const EDGE_LIBRARIES =
  "node_modules/(@grpc|@kubernetes|@opentelemetry|undici|chokidar|prom-client|pino|hono|@hono|commander|ws)/";

module.exports = {
  forbidden: [
    { name: "no-circular", severity: "error", from: {}, to: { circular: true } },
    { name: "no-unresolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    only("core-is-pure", "^src/core/", [], "core imports core and generated messages only"),
    {
      name: "core-without-the-world",
      severity: "error",
      from: { path: "^src/core/", pathNot: "^src/core/sha256\\.ts$" },
      to: {
        path: ["node_modules/", "^node:"],
        pathNot: ["@kubernetes/client-node", "@types/"],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "core-takes-types-only-from-the-client",
      severity: "error",
      from: { path: "^src/core/" },
      to: { path: "@kubernetes/client-node", dependencyTypesNot: ["type-only"] },
    },
    only("ports-see-core", "^src/ports/", ["^src/core/"], "ports are interfaces over core types"),
    only("operators-see-core-and-ports", "^src/operators/", ["^src/core/", "^src/ports/"]),
    only("state-sees-operators", "^src/state/", ["^src/core/", "^src/ports/", "^src/operators/"]),
    only("pipelines", "^src/pipelines/", ["^src/core/", "^src/ports/", "^src/operators/", "^src/state/"]),
    ...Object.entries(PIPELINE_DIRECTORIES).map(pipelineDirectory),
    only("kubelet", "^src/kubelet\\.ts$", [
      "^src/core/",
      "^src/ports/",
      "^src/operators/",
      "^src/state/",
      "^src/pipelines/",
    ]),
    only("file-system-sees-core", "^src/fileSystem/", ["^src/core/"], "safe access to files, for every edge"),
    only("sources-see-ports", "^src/sources/", [
      "^src/core/",
      "^src/ports/",
      "^src/operators/",
      "^src/fileSystem/",
      "^src/grpcServer/",
    ]),
    only("sinks-see-ports", "^src/sinks/", [
      "^src/core/",
      "^src/ports/",
      "^src/operators/",
      "^src/grpcServer/",
      "^src/streaming/",
      "^src/fileSystem/",
    ]),
    only("grpc-server-sees-files", "^src/grpcServer/", ["^src/fileSystem/"], "gRPC services on Unix sockets"),
    only("server-reads-queries", "^src/server/", [
      "^src/core/",
      "^src/ports/",
      "^src/operators/",
      "^src/streaming/",
      "^src/grpcServer/",
    ]),
    only(
      "embedded-runtime-is-no-kubelet",
      "^src/embeddedRuntime/",
      ["^src/streaming/", "^src/fileSystem/", "^src/grpcServer/"],
      "a CRI server of its own",
    ),
    only("streaming-is-protocols-alone", "^src/streaming/", [], "SPDY and WebSocket, of no side of the kubelet"),
    only("cli-sees-core", "^src/cli/", ["^src/core/"]),
    only("live-page-sees-core", "^src/livePage/", ["^src/core/"], "runs in a browser"),
    {
      name: "live-page-is-bundled-apart",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/livePage/" },
      to: { path: ["^src/livePage/", "node_modules/(preact|@preact|uplot)/"] },
    },
    {
      name: "model-of-the-live-page-is-pure",
      severity: "error",
      from: { path: "^src/livePage/model/" },
      to: { path: ["node_modules/", "^src/livePage/(?!model/)"] },
    },
    {
      name: "sim-stays-out-of-production",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/sim/", "^src/commands/sim"] },
      to: { path: "^src/sim/" },
    },
    {
      name: "opentelemetry-in-one-place",
      severity: "error",
      comment: "loaded only when tracing is configured",
      from: { path: "^src/", pathNot: "^src/sinks/tracing/" },
      to: { path: ["node_modules/@opentelemetry/", "^src/sinks/tracing/"], dependencyTypesNot: ["dynamic-import"] },
    },
    {
      name: "world-libraries-at-the-edge",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(sources|sinks|server|grpcServer|streaming|embeddedRuntime|cli)/" },
      to: { path: EDGE_LIBRARIES, dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    exclude: { path: "^src/gen/" },
    enhancedResolveOptions: {
      extensions: [".ts", ".js", ".d.ts"],
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node"],
    },
  },
};
