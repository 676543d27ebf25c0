/** The sub-commands with kubectl's words: rows of the table, in the order of the help. */
import { row, type SubCommand } from "./commandRow.ts";
import { COPY_FLAGS, readCopyFlags } from "./copyFlags.ts";
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

/** Commands that look at pods, work in them, and change manifests. */
export const POD_COMMANDS: readonly SubCommand[] = [
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
];
