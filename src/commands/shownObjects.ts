/** The objects that `rxlet get` prints: pods, and events of the node. */
import { map, type Observable, switchMap, throwError } from "rxjs";
import type { GetOptions } from "../cli/podCommandFlags.ts";
import type { Pod } from "../core/api.ts";
import type { ApiEvent } from "../core/apiEvent.ts";
import type { ApiObject } from "../core/apiObjects/storedObject.ts";
import { untyped } from "../core/apiObjects/storedObject.ts";
import { kubeletError } from "../core/errors.ts";
import type { EpochMs } from "../core/ids.ts";
import { parseJson } from "../core/json.ts";
import { podRow } from "../core/pod/podRow.ts";
import { askKubelet } from "../sinks/askKubelet.ts";
import { systemClock } from "../sources/systemClock.ts";
import { podOfKubelet, podsOfKubelet } from "./podOfKubelet.ts";
import { refusalOf, type TargetServer, unanswered } from "./targetServer.ts";

/** A kind of objects that can be printed. */
export interface ShownKind {
  readonly kind: "Pod" | "Event";
  /** Emits all of them, in the order of the list. */
  list(server: TargetServer): Observable<readonly ApiObject[]>;
  /** Emits one. Errors: NotFound. */
  one(server: TargetServer, namespace: string, name: string): Observable<ApiObject>;
  /** Returns the columns to compare between polls, without the ages, which always change. */
  wordsOf(object: ApiObject, now: EpochMs): string;
}

const keyOf = ({ metadata }: ApiObject): string => `${metadata?.namespace}/${metadata?.name}`;

const asPod = (object: ApiObject): Pod => object as unknown as Pod;
const asEvent = (object: ApiObject): ApiEvent => object as unknown as ApiEvent;

const PODS: ShownKind = {
  kind: "Pod",
  list: (server) => podsOfKubelet(server).pipe(map((pods) => pods.map(untyped).toSorted(by(keyOf)))),
  one: (server, namespace, name) => podOfKubelet(server, namespace, name).pipe(map(untyped)),
  wordsOf: (object, now) => {
    const { ready, status, restartCount, ip } = podRow(asPod(object), now);
    return [object.metadata?.uid, ready, status, restartCount, ip].join(" ");
  },
};

const EVENTS: ShownKind = {
  kind: "Event",
  // Differs from upstream: the latest event comes last, instead of an order of names.
  list: (server) => events(server).pipe(map((found) => found.toSorted(by(lastSeen)))),
  one: (server, namespace, name) =>
    events(server).pipe(
      switchMap((found) => {
        const event = found.find((each) => keyOf(each) === `${namespace}/${name}`);
        return event === undefined ? throwError(() => kubeletError("NotFound", `events "${name}" not found`)) : [event];
      }),
    ),
  wordsOf: (object) => {
    const { count, lastTimestamp } = asEvent(object);
    return `${count} ${lastTimestamp}`;
  },
};

/** The kinds by the words of kubectl. */
export const SHOWN_KINDS: Readonly<Record<GetOptions["resource"], ShownKind>> = { pods: PODS, events: EVENTS };

const by =
  (textOf: (object: ApiObject) => string) =>
  (a: ApiObject, b: ApiObject): number =>
    textOf(a) < textOf(b) ? -1 : 1;

const lastSeen = (object: ApiObject): string => String(asEvent(object).lastTimestamp ?? "");

const events = (server: TargetServer): Observable<readonly ApiObject[]> =>
  askKubelet("GET", `${server.url}/api/v1/events`, server.access, systemClock).pipe(
    unanswered(server),
    map(({ status, text }) => {
      const list = status === 200 ? (parseJson(text) as { readonly items?: readonly ApiObject[] } | undefined) : {};
      if (list?.items !== undefined) return list.items;
      const none = `${server.name} has no events: those of a node are on its local socket, those of a cluster in its API server`;
      throw refusalOf(server, status, text.trim().slice(0, 1_000)) ?? kubeletError("NotFound", none);
    }),
  );
