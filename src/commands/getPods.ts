/** `rxlet get pods`: prints the pods of a kubelet as kubectl does, once or (`--watch`) after each change. */
import { concat, ignoreElements, map, type Observable, scan, switchMap, tap } from "rxjs";
import { stringify } from "yaml";
import type { GetOptions } from "../cli/podCommandFlags.ts";
import type { Pod } from "../core/api.ts";
import { type IncludeObject, tableOf } from "../core/apiObjects/tables/table.ts";
import { tableText } from "../core/apiObjects/tables/tableText.ts";
import { untyped } from "../core/apiObjects/storedObject.ts";
import type { EpochMs } from "../core/ids.ts";
import { podRow } from "../core/pod/podRow.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import { systemClock } from "../sources/systemClock.ts";
import { type TargetServer, targetServer } from "./targetServer.ts";
import { podOfKubelet, podsOfKubelet } from "./podOfKubelet.ts";
import type { Screen } from "./showPage.ts";

/** Period of `--watch`, in milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/** Prints pods to `screen` and notices to `notes`; completes unless it watches. */
export const getPods = (options: GetOptions, screen: Screen, notes: Screen): Observable<never> =>
  targetServer(options.target).pipe(
    switchMap((server) => {
      const once$ = wanted(server, options);
      const pods$ = options.watch
        ? concat(
            once$,
            pollAfter(systemClock, LOOK_AGAIN_MS, () => again(server, options), LATER),
          )
        : once$;
      return pods$.pipe(
        scan((printed, pods) => print(printed, pods, options, systemClock.wallTime()), NOTHING),
        tap(({ text, note }) => {
          if (text !== "") screen.write(text);
          if (note !== undefined) notes.write(`${note}\n`);
        }),
      );
    }),
    ignoreElements(),
  );

const LATER = { immediately: false };

/** Emits the pods that the options select. */
const wanted = (server: TargetServer, { namespace, pod }: GetOptions): Observable<readonly Pod[]> =>
  pod !== undefined
    ? podOfKubelet(server, namespace ?? "default", pod).pipe(map((found) => [found]))
    : podsOfKubelet(server).pipe(map((pods) => inOrder(pods, namespace)));

/** Emits the pods of a later poll. A missing pod is no error then, because it may be created again. */
const again = (server: TargetServer, { namespace, pod }: GetOptions): Observable<readonly Pod[]> =>
  podsOfKubelet(server).pipe(
    map((pods) => inOrder(pods, namespace).filter(({ metadata }) => pod === undefined || metadata.name === pod)),
  );

const inOrder = (pods: readonly Pod[], namespace: string | undefined): readonly Pod[] =>
  pods.filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace).toSorted(byName);

const keyOf = ({ metadata }: Pod): string => `${metadata.namespace}/${metadata.name}`;
const byName = (a: Pod, b: Pod): number => (keyOf(a) < keyOf(b) ? -1 : 1);

/** The rows printed so far, and the text to print next. */
interface Printed {
  readonly rows: ReadonlyMap<string, string>;
  readonly widths: readonly number[];
  readonly isFirst: boolean;
  readonly text: string;
  readonly note: string | undefined;
}

const NOTHING: Printed = { rows: new Map(), widths: [], isFirst: true, text: "", note: undefined };

function print(before: Printed, pods: readonly Pod[], options: GetOptions, now: EpochMs): Printed {
  const { isFirst } = before;
  const rows = new Map(pods.map((pod) => [keyOf(pod), wordsOf(pod, now)]));
  const news = isFirst ? pods : pods.filter((pod) => before.rows.get(keyOf(pod)) !== rows.get(keyOf(pod)));
  const next = { ...before, rows, isFirst: false, note: undefined };
  if (options.output === "json" || options.output === "yaml")
    return { ...next, text: documentText(news, options, isFirst) };
  if (options.output === "name")
    return { ...next, text: news.map(({ metadata }) => `pod/${metadata.name}\n`).join("") };
  if (news.length === 0 && rows.size === 0 && isFirst)
    return { ...next, isFirst: true, text: "", note: noneText(options) };
  const include: IncludeObject = "Metadata";
  const table = tableOf("pods", news.map(untyped), {}, { apiVersion: "meta.k8s.io/v1", include }, now);
  const columns = { wide: options.output === "wide", namespaces: options.namespace === undefined };
  const { lines, widths } = tableText(table, columns, before.widths);
  const shown = isFirst ? lines : lines.slice(1);
  return { ...next, widths, text: shown.map((line) => `${line}\n`).join("") };
}

/** Returns the columns to compare between polls, without the age, which always changes. */
function wordsOf(pod: Pod, now: EpochMs): string {
  const { ready, status, restartCount, ip } = podRow(pod, now);
  return [pod.metadata.uid, ready, status, restartCount, ip].join(" ");
}

const noneText = ({ namespace }: GetOptions): string =>
  namespace === undefined ? "No resources found" : `No resources found in ${namespace} namespace.`;

/** Returns single documents when watching or for a named pod, else a list. */
function documentText(pods: readonly Pod[], { output, pod, watch }: GetOptions, isFirst: boolean): string {
  const objects = pods.map((each) => ({ apiVersion: "v1", kind: "Pod", ...each }));
  const list = { apiVersion: "v1", items: objects, kind: "List", metadata: { resourceVersion: "" } };
  const documents = pod !== undefined || watch ? objects : [list];
  if (output === "json") return documents.map((each) => `${JSON.stringify(each, undefined, 4)}\n`).join("");
  const text = documents.map((each) => stringify(each, { version: "1.1" })).join("---\n");
  return isFirst || text === "" ? text : `---\n${text}`;
}
