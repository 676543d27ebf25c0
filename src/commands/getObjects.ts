/** `rxlet get pods|events`: prints objects of a kubelet as kubectl does, once or (`--watch`) after each change. */
import { concat, ignoreElements, map, type Observable, scan, switchMap, tap } from "rxjs";
import { stringify } from "yaml";
import type { GetOptions } from "../cli/podCommandFlags.ts";
import { type IncludeObject, tableOf } from "../core/apiObjects/tables/table.ts";
import { tableText } from "../core/apiObjects/tables/tableText.ts";
import type { ApiObject } from "../core/apiObjects/storedObject.ts";
import type { EpochMs } from "../core/ids.ts";
import { pollAfter } from "../operators/pollAfter.ts";
import { systemClock } from "../sources/systemClock.ts";
import { type TargetServer, targetServer } from "./targetServer.ts";
import { SHOWN_KINDS } from "./shownObjects.ts";
import type { Screen } from "./showPage.ts";

/** Period of `--watch`, in milliseconds. */
const LOOK_AGAIN_MS = 1_000;

/** Prints objects to `screen` and notices to `notes`; completes unless it watches. */
export const getObjects = (options: GetOptions, screen: Screen, notes: Screen): Observable<never> =>
  targetServer(options.target).pipe(
    switchMap((server) => {
      const once$ = wanted(server, options);
      const objects$ = options.watch
        ? concat(
            once$,
            pollAfter(systemClock, LOOK_AGAIN_MS, () => again(server, options), LATER),
          )
        : once$;
      return objects$.pipe(
        scan((printed, objects) => print(printed, objects, options, systemClock.wallTime()), NOTHING),
        tap(({ text, note }) => {
          if (text !== "") screen.write(text);
          if (note !== undefined) notes.write(`${note}\n`);
        }),
      );
    }),
    ignoreElements(),
  );

const LATER = { immediately: false };

/** Emits the objects that the options select. */
const wanted = (server: TargetServer, options: GetOptions): Observable<readonly ApiObject[]> =>
  options.name === undefined
    ? again(server, options)
    : SHOWN_KINDS[options.resource]
        .one(server, options.namespace ?? "default", options.name)
        .pipe(map((found) => [found]));

/** Emits the objects of a later poll. A missing object is no error then, because it may be created again. */
const again = (server: TargetServer, { resource, namespace, name }: GetOptions): Observable<readonly ApiObject[]> =>
  SHOWN_KINDS[resource]
    .list(server)
    .pipe(
      map((objects) =>
        objects.filter(
          ({ metadata }) =>
            (namespace === undefined || metadata?.namespace === namespace) &&
            (name === undefined || metadata?.name === name),
        ),
      ),
    );

const keyOf = ({ metadata }: ApiObject): string => `${metadata?.namespace}/${metadata?.name}`;

/** The rows printed so far, and the text to print next. */
interface Printed {
  readonly rows: ReadonlyMap<string, string>;
  readonly widths: readonly number[];
  readonly isFirst: boolean;
  readonly text: string;
  readonly note: string | undefined;
}

const NOTHING: Printed = { rows: new Map(), widths: [], isFirst: true, text: "", note: undefined };

function print(before: Printed, objects: readonly ApiObject[], options: GetOptions, now: EpochMs): Printed {
  const { isFirst } = before;
  const { kind, wordsOf } = SHOWN_KINDS[options.resource];
  const rows = new Map(objects.map((object) => [keyOf(object), wordsOf(object, now)]));
  const news = isFirst ? objects : objects.filter((each) => before.rows.get(keyOf(each)) !== rows.get(keyOf(each)));
  const next = { ...before, rows, isFirst: false, note: undefined };
  if (options.output === "json" || options.output === "yaml")
    return { ...next, text: documentText(news, options, isFirst) };
  if (options.output === "name")
    return { ...next, text: news.map(({ metadata }) => `${kind.toLowerCase()}/${metadata?.name}\n`).join("") };
  if (news.length === 0 && rows.size === 0 && isFirst)
    return { ...next, isFirst: true, text: "", note: noneText(options) };
  const include: IncludeObject = "Metadata";
  const table = tableOf(options.resource, news, {}, { apiVersion: "meta.k8s.io/v1", include }, now);
  const columns = { wide: options.output === "wide", namespaces: options.namespace === undefined };
  const { lines, widths } = tableText(table, columns, before.widths);
  const shown = isFirst ? lines : lines.slice(1);
  return { ...next, widths, text: shown.map((line) => `${line}\n`).join("") };
}

const noneText = ({ namespace }: GetOptions): string =>
  namespace === undefined ? "No resources found" : `No resources found in ${namespace} namespace.`;

/** Returns single documents when watching or for a named object, else a list. */
function documentText(found: readonly ApiObject[], options: GetOptions, isFirst: boolean): string {
  const { output, name, watch, resource } = options;
  const objects = found.map((each) => ({ apiVersion: "v1", kind: SHOWN_KINDS[resource].kind, ...each }));
  const list = { apiVersion: "v1", items: objects, kind: "List", metadata: { resourceVersion: "" } };
  const documents = name !== undefined || watch ? objects : [list];
  if (output === "json") return documents.map((each) => `${JSON.stringify(each, undefined, 4)}\n`).join("");
  const text = documents.map((each) => stringify(each, { version: "1.1" })).join("---\n");
  return isFirst || text === "" ? text : `---\n${text}`;
}
