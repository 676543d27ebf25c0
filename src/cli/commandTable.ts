/** The sub-commands of rxlet: one row each. Help, parsing and suggestions read the same row. */
import { DOCKERSHIM_FLAGS, readDockershimFlags } from "./dockershimFlags.ts";
import { readRetryFlags, RETRY_FLAGS } from "./retryFlags.ts";
import { EXPLAIN_FLAGS, NODE_PAGE_FLAGS, readExplainFlags, readNodePageFlags, readVolumesFlags } from "./showFlags.ts";
import { readSimulateFlags, SIMULATE_FLAGS } from "./simulateFlags.ts";
import { readTopFlags, TOP_FLAGS } from "./topFlags.ts";
import { DEV_FLAGS, readDevFlags, readRuntimeFlags, readTemplateFlags, RUNTIME_FLAGS } from "./subCommands.ts";
import { row, type SubCommand } from "./commandRow.ts";
import { POD_COMMANDS } from "./podCommandTable.ts";

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
  ...POD_COMMANDS,
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
