/** The exec plugin of a kubeconfig. Upstream: ExecConfig of client-go and its validation. */
import type { ExecPlugin } from "./clientConfig.ts";
import type { FieldReader, ResolvePath } from "./fieldReader.ts";

const VERSIONS: readonly ExecPlugin["apiVersion"][] = [
  "client.authentication.k8s.io/v1",
  "client.authentication.k8s.io/v1beta1",
];
const INTERACTIVE_MODES = ["Never", "IfAvailable", "Always"];
/** Cluster fields that plugins receive under the same name. */
const CLUSTER_FIELDS = [
  "server",
  "tls-server-name",
  "insecure-skip-tls-verify",
  "certificate-authority-data",
  "proxy-url",
];
const EXEC_EXTENSION = "client.authentication.k8s.io/exec";

/** Reads the exec plugin; the readers record its problems. */
export function readExecPlugin(exec: FieldReader, cluster: FieldReader, resolve: ResolvePath): ExecPlugin {
  const apiVersion = exec.text("apiVersion") as ExecPlugin["apiVersion"];
  if (!VERSIONS.includes(apiVersion)) {
    exec.fault("apiVersion", `must be ${VERSIONS.join(" or ")}, got ${JSON.stringify(apiVersion)}`);
  }
  checkMode(exec, apiVersion);
  const command = exec.text("command");
  if (command === "") exec.fault("command", "is required");
  return {
    apiVersion,
    command: command.includes("/") ? resolve(command) : command,
    args: argsOf(exec),
    env: envOf(exec),
    installHint: exec.text("installHint").trim(),
    cluster: exec.flag("provideClusterInfo") ? clusterInfo(cluster) : undefined,
  };
}

function checkMode(exec: FieldReader, apiVersion: string): void {
  const mode = exec.text("interactiveMode");
  if (mode === "") {
    if (apiVersion === VERSIONS[0]) exec.fault("interactiveMode", `is required: ${INTERACTIVE_MODES.join(", ")}`);
  } else if (!INTERACTIVE_MODES.includes(mode)) {
    exec.fault("interactiveMode", `must be ${INTERACTIVE_MODES.join(", ")}, got ${JSON.stringify(mode)}`);
  } else if (mode === "Always") {
    exec.fault("interactiveMode", "cannot be Always: a node has no interactive user");
  }
}

function argsOf(exec: FieldReader): readonly string[] {
  const args = exec.map["args"] ?? [];
  if (Array.isArray(args) && args.every((each) => typeof each === "string")) return args;
  exec.fault("args", "must be a list of strings");
  return [];
}

function envOf(exec: FieldReader): Readonly<Record<string, string>> {
  return Object.fromEntries(
    exec.list("env").map((entry) => {
      const name = entry.text("name");
      if (name === "") entry.fault("name", "is required");
      return [name, entry.text("value")];
    }),
  );
}

function clusterInfo(cluster: FieldReader): Readonly<Record<string, unknown>> {
  const reported = CLUSTER_FIELDS.filter((field) => cluster.map[field] !== undefined);
  const extension = cluster.list("extensions").find(({ map }) => map["name"] === EXEC_EXTENSION)?.map["extension"];
  return {
    ...Object.fromEntries(reported.map((field) => [field, cluster.map[field]])),
    ...(extension === undefined ? {} : { config: extension }),
  };
}
