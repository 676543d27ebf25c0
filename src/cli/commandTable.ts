/** The sub-commands of rxlet: one row each. Help, parsing and suggestions read the same row. */
import { COPY_FLAGS, readCopyFlags } from "./copyFlags.ts";
import { DOCKERSHIM_FLAGS, readDockershimFlags } from "./dockershimFlags.ts";
import type { FlagSpec } from "./flagSpec.ts";
import type { SubInvocation, WrongInvocation } from "./invocation.ts";
import type { ParsedFlags } from "./parseKubeletFlags.ts";
import { APPLY_FLAGS, DELETE_FLAGS, readApplyFlags, readDeleteFlags } from "./manifestFlags.ts";
import {
  ATTACH_FLAGS,
  EXEC_FLAGS,
  GET_FLAGS,
  LOGS_FLAGS,
  PORT_FORWARD_FLAGS,
  readAttachFlags,
  readExecFlags,
  readGetFlags,
  readLogsFlags,
  readPortForwardFlags,
} from "./podCommandFlags.ts";
import { readRetryFlags, RETRY_FLAGS } from "./retryFlags.ts";
import { EXPLAIN_FLAGS, NODE_PAGE_FLAGS, readExplainFlags, readNodePageFlags, readVolumesFlags } from "./showFlags.ts";
import { readSimulateFlags, SIMULATE_FLAGS } from "./simulateFlags.ts";
import { readTopFlags, TOP_FLAGS } from "./topFlags.ts";
import { DEV_FLAGS, readDevFlags, readRuntimeFlags, readTemplateFlags, RUNTIME_FLAGS } from "./subCommands.ts";

/** A row of the table. */
export interface SubCommand {
  readonly name: SubInvocation["command"];
  /** The arguments before the flags, as help shows them; empty without any. */
  readonly args: string;
  /** Maximum number of arguments. */
  readonly maxArgs: number;
  /** A line for the list of commands; it starts with a verb. */
  readonly about: string;
  /** Further lines for the help of the command itself. */
  readonly details?: string;
  readonly examples: readonly string[];
  readonly flags: readonly FlagSpec[];
  read(parsed: ParsedFlags): SubInvocation | WrongInvocation;
}

type Read<T> = { readonly ok: true; readonly options: T } | { readonly ok: false; readonly errors: readonly string[] };

/** Creates a row whose `read` returns the options or all errors. */
function row<Name extends SubInvocation["command"]>(
  name: Name,
  texts: Omit<SubCommand, "name" | "read">,
  read: (parsed: ParsedFlags) => Read<Omit<Extract<SubInvocation, { readonly command: Name }>, "command">>,
): SubCommand {
  return {
    name,
    ...texts,
    read: (parsed) => {
      const found = read(parsed);
      // The options are those of the command with this name.
      return found.ok
        ? ({ command: name, ...found.options } as unknown as SubInvocation)
        : { command: "error", errors: found.errors };
    },
  };
}

/** Every sub-command, in the order of the help. */
export const SUB_COMMANDS: readonly SubCommand[] = [
  row(
    "dev",
    {
      args: "[DIR]",
      maxArgs: 1,
      about: "Run the pods of a directory, and show them live",
      details:
        "Needs neither root nor containers: containers are processes of your user. Without DIR it runs the examples.\n" +
        "Ctrl-C stops the pods. --runtime=docker and --runtime=containerd run them in real containers, as root or as a user\n" +
        "who may use the socket.",
      examples: [
        "rxlet dev",
        "rxlet dev ./manifests --node-name=laptop",
        "rxlet dev --runtime=docker",
        "rxlet dev ./manifests | cat",
      ],
      flags: DEV_FLAGS,
    },
    readDevFlags,
  ),
  row(
    "explain",
    {
      args: "POD",
      maxArgs: 1,
      about: "Show what happened to a pod, what it waits for and what comes next",
      examples: ["rxlet explain web-laptop", "rxlet explain demo/web-laptop -o json"],
      flags: EXPLAIN_FLAGS,
    },
    readExplainFlags,
  ),
  row(
    "get",
    {
      args: "pods|events [NAME]",
      maxArgs: 2,
      about: "List the pods or events of the node, or watch them",
      examples: [
        "rxlet get pods -w",
        "rxlet get pods -A -o wide",
        "rxlet get events",
        "rxlet get pods web-laptop -o yaml",
      ],
      flags: GET_FLAGS,
    },
    readGetFlags,
  ),
  row(
    "logs",
    {
      args: "POD [CONTAINER]",
      maxArgs: 2,
      about: "Print the output of a container",
      examples: [
        "rxlet logs web-laptop -f",
        "rxlet logs app-laptop -c log-shipper --tail=20",
        "rxlet logs crasher-laptop -p",
      ],
      flags: LOGS_FLAGS,
    },
    readLogsFlags,
  ),
  row(
    "exec",
    {
      args: "POD -- COMMAND [ARGS...]",
      maxArgs: Number.POSITIVE_INFINITY,
      about: "Run a command in a container",
      details: "The exit code is that of the command.",
      examples: ["rxlet exec web-laptop -- env", "rxlet exec -it web-laptop -- sh"],
      flags: EXEC_FLAGS,
    },
    readExecFlags,
  ),
  row(
    "attach",
    {
      args: "POD",
      maxArgs: 1,
      about: "Print new output of a container, and pass it input",
      examples: ["rxlet attach web-laptop"],
      flags: ATTACH_FLAGS,
    },
    readAttachFlags,
  ),
  row(
    "port-forward",
    {
      args: "POD [LOCAL:]REMOTE...",
      maxArgs: Number.POSITIVE_INFINITY,
      about: "Forward local ports to ports of a pod",
      examples: ["rxlet port-forward web-laptop 8080", "rxlet port-forward web-laptop 9000:8080 :9090"],
      flags: PORT_FORWARD_FLAGS,
    },
    readPortForwardFlags,
  ),
  row(
    "cp",
    {
      args: "POD:PATH PATH | PATH POD:PATH",
      maxArgs: 2,
      about: "Copy files and directories out of a container or into it",
      details: "Needs tar in the container. Links are not followed, and nothing is written outside of the target.",
      examples: ["rxlet cp web-laptop:/var/log/app ./logs", "rxlet cp ./config.json demo/web-laptop:/etc/app/"],
      flags: COPY_FLAGS,
    },
    readCopyFlags,
  ),
  row(
    "apply",
    {
      args: "",
      maxArgs: 0,
      about: "Run the pods of manifests on this node, or change them",
      details:
        "The daemon checks each manifest and writes its objects to the manifest directory, all of them or none. A directory\n" +
        "stands for its files that end in .json, .yaml or .yml.",
      examples: [
        "rxlet apply -f web.yaml",
        "rxlet apply -f manifests/ --dry-run=server",
        "cat web.yaml | rxlet apply -f -",
      ],
      flags: APPLY_FLAGS,
    },
    readApplyFlags,
  ),
  row(
    "delete",
    {
      args: "[KIND NAME...]",
      maxArgs: Number.POSITIVE_INFINITY,
      about: "Remove objects that rxlet apply wrote, and wait until the pods have ended",
      details: "Other manifests are the operator's: remove their files.",
      examples: ["rxlet delete pod web-laptop", "rxlet delete -f web.yaml --ignore-not-found"],
      flags: DELETE_FLAGS,
    },
    readDeleteFlags,
  ),
  row(
    "volumes",
    {
      args: "[POD]",
      maxArgs: 1,
      about: "Show which volumes are mounted, awaited or left over, and why",
      examples: ["rxlet volumes", "rxlet volumes demo/web-laptop"],
      flags: EXPLAIN_FLAGS,
    },
    readVolumesFlags,
  ),
  row(
    "pressure",
    {
      args: "",
      maxArgs: 0,
      about: "Show the eviction signals of the node, and what it would free or evict first",
      examples: ["rxlet pressure", "rxlet pressure -o json"],
      flags: NODE_PAGE_FLAGS,
    },
    readNodePageFlags,
  ),
  row(
    "resources",
    {
      args: "",
      maxArgs: 0,
      about: "Show sockets, NUMA nodes, CPUs, memory and devices, and who has them",
      examples: ["rxlet resources", "rxlet resources -o json"],
      flags: NODE_PAGE_FLAGS,
    },
    readNodePageFlags,
  ),
  row(
    "top",
    {
      args: "",
      maxArgs: 0,
      about: "Watch the node live: pods and what they wait for, the pipeline, marbles, usage",
      details:
        "Keys: 1 to 4 or Tab choose the view, q ends. Without a terminal the view is printed once. The node needs --live-view; rxlet dev and the local socket of a node have it always.",
      examples: ["rxlet top", "rxlet top --view=marbles", "rxlet top --once --view=node"],
      flags: TOP_FLAGS,
    },
    readTopFlags,
  ),
  row(
    "retry",
    {
      args: "POD",
      maxArgs: 1,
      about: "Reset the backoffs of a pod, so that it tries again at once",
      examples: ["rxlet retry crasher-laptop"],
      flags: RETRY_FLAGS,
    },
    readRetryFlags,
  ),
  row(
    "template",
    {
      args: "FILE",
      maxArgs: 1,
      about: "Print the pods of the Deployments, Jobs and other workloads in a manifest",
      details:
        "rxlet runs pods only. For each workload of FILE this prints one Pod made of its template; Pods, ConfigMaps and\n" +
        "Secrets are printed as they are. A FILE of - is standard input.",
      examples: ["rxlet template deployment.yaml > manifests/web.yaml"],
      flags: [],
    },
    readTemplateFlags,
  ),
  row(
    "simulate",
    {
      args: "",
      maxArgs: 0,
      about: "Run simulated nodes in virtual time, with faults drawn from a seed",
      details:
        "Checks every rule at every step. Exits with 2 when a rule was broken, 3 when the desired state was not reached,\n" +
        "4 when the kubelet ended.",
      examples: ["rxlet simulate --seed=42", "rxlet simulate --nodes=100 --duration=24h --faults=none"],
      flags: SIMULATE_FLAGS,
    },
    (parsed) => {
      const read = readSimulateFlags(parsed);
      return read.ok ? { ok: true, options: read.flags } : read;
    },
  ),
  row(
    "runtime",
    {
      args: "",
      maxArgs: 0,
      about: "Run the built-in container runtime (CRI v1), as rxlet dev does",
      details: "It starts containers as local processes. rxlet dev starts its own.",
      examples: [
        "rxlet runtime --socket=/tmp/runtime.sock --state-dir=/tmp/runtime",
        "rxlet --container-runtime-endpoint=unix:///tmp/runtime.sock --pod-manifest-path=./manifests",
      ],
      flags: RUNTIME_FLAGS,
    },
    readRuntimeFlags,
  ),
  row(
    "dockershim",
    {
      args: "",
      maxArgs: 0,
      about: "Serve CRI v1 over Docker, for any kubelet",
      details: "A daemon with --container-runtime=docker needs none: it has its own.",
      examples: ["rxlet dockershim --socket=/run/rxlet/dockershim.sock --network-plugin=cni"],
      flags: DOCKERSHIM_FLAGS,
    },
    readDockershimFlags,
  ),
];

/** The command of a name; undefined when there is none. */
export const subCommandOf = (name: string | undefined): SubCommand | undefined =>
  SUB_COMMANDS.find((command) => command.name === name);
