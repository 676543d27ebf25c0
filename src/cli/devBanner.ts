/** Formats the first lines of `rxlet dev`: its files and addresses, and commands that work with it. Pure. */

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
  /** Base URL of the read-only server; undefined when it is off. */
  readonly readOnly: string | undefined;
  /** The requested port of the read-only server if another program uses it; else undefined. */
  readonly portInUse: number | undefined;
  /** Process of another `rxlet dev` that runs the same manifests; undefined when there is none. */
  readonly twinPid: number | undefined;
  /** File with the node's log. */
  readonly log: string;
}

/** Columns of the labels. */
export const LABEL_WIDTH = "Manifests  ".length;

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
    ...(kubeconfig === undefined
      ? []
      : [
          `Logs       ${program} logs ${name} -f`,
          "Commands   get pods, exec, attach, port-forward, explain, retry, volumes, pressure: the same way",
          `kubectl    export KUBECONFIG=${kubeconfig}`,
        ]),
    ...(readOnly === undefined ? [] : [`API        ${readOnly}/pods${inUse}`, `Metrics    ${readOnly}/metrics`]),
    `Log        ${log}`,
    "Ctrl-C     stops the pods and leaves nothing behind",
  ];
}
