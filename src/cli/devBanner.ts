/** Formats the first lines of `rxlet dev`: its files and addresses, and commands that work with it. Pure. */

import { wrapText } from "./wrapText.ts";

/** Contents of the banner. */
export interface DevBanner {
  /** Command that starts this program: `rxlet`, or `npx node src/main.ts` in a clone. */
  readonly program: string;
  /** Directory of the manifests. */
  readonly manifests: string;
  /** The directory had no manifests at the start. */
  readonly isEmpty: boolean;
  /** Kubeconfig of this node; undefined until the authenticated server listens. */
  readonly kubeconfig: string | undefined;
  /** Base URL of the read-only server; undefined until it listens, and when it is off. */
  readonly readOnly: string | undefined;
  /** The requested port of the read-only server if another program uses it; else undefined. */
  readonly portInUse: number | undefined;
  /** Process of another `rxlet dev` that runs the same manifests; undefined when there is none. */
  readonly twinPid: number | undefined;
  /** File with the node's log. */
  readonly log: string;
}

/** Columns of the labels. */
const LABEL_WIDTH = "Manifests  ".length;

/** Lines, by label, that a screen without room for the table leaves out, the least important first. */
const DISPENSABLE = ["Metrics", "API", "Commands", "Log", "Ctrl-C", "kubectl", "Logs"];
/** Rows that a line of the banner may take on a narrow terminal. */
const MAX_ROWS_EACH = 4;

/** The banner on a terminal: lines wrapped to its columns, and as many of them as fit in `rows`. */
export function bannerBlock(lines: readonly string[], columns: number, rows: number): readonly string[] {
  let kept = lines;
  for (const label of DISPENSABLE) {
    if (wrapped(kept, columns).length <= rows) break;
    kept = kept.filter((line) => !line.startsWith(`${label} `));
  }
  return wrapped(kept, columns).slice(0, Math.max(1, rows));
}

/** Paths of the banner are there to be copied, so they are wrapped and not cut. */
const wrapped = (lines: readonly string[], columns: number): readonly string[] =>
  lines.flatMap((line) => {
    if (line.length <= columns || columns <= 2 * LABEL_WIDTH) return [line];
    const text = wrapText(line.slice(LABEL_WIDTH), columns - LABEL_WIDTH, MAX_ROWS_EACH);
    return text.map((part, index) => `${index === 0 ? line.slice(0, LABEL_WIDTH) : " ".repeat(LABEL_WIDTH)}${part}`);
  });

/** The line that stands above everything, printed before the node is loaded. */
export const startingLine = (dir: string | undefined): string =>
  `Starting a node for the pods of ${dir ?? "the examples"}...`;

/** The banner as lines; `pod` is an example of a pod's name. */
export function bannerLines(banner: DevBanner, pod: string | undefined): readonly string[] {
  const { program, manifests, isEmpty, kubeconfig, readOnly, portInUse, twinPid, log } = banner;
  const inUse = portInUse === undefined ? "" : `  (port ${portInUse} is in use)`;
  const name = pod ?? "POD";
  return [
    `Manifests  ${manifests}  (${isEmpty ? "empty: add files, pods follow" : "edit, add or remove files: pods follow"})`,
    ...(twinPid === undefined
      ? []
      : [`Warning    process ${twinPid} is an rxlet dev of the same manifests: each pod runs twice`]),
    ...(readOnly === undefined ? [] : [`Live view  ${readOnly}/live/${inUse}`]),
    ...(kubeconfig === undefined
      ? []
      : [
          `Logs       ${program} logs ${name} -f`,
          "Commands   get pods, exec, attach, port-forward, explain, retry, volumes, pressure: the same way",
          `kubectl    export KUBECONFIG=${kubeconfig}`,
        ]),
    ...(readOnly === undefined ? [] : [`API        ${readOnly}/pods`, `Metrics    ${readOnly}/metrics`]),
    `Log        ${log}`,
    "Ctrl-C     stops the pods and leaves nothing behind",
  ];
}
