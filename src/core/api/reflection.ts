/**
 * State of a reflector of one resource: a pure state machine over the responses of list and watch. Decides the next
 * request and whether to wait before it; sources/reflector.ts sends it and computes the backoff. Upstream: ListAndWatch
 * of client-go's Reflector.
 *
 *     stream --(initial events end)--------------------------> watch --(closed)--> watch
 *       |  ^                                                    |  ^
 *       |  +------------(Expired, too new, refused)-------------+  |
 *       +--(not understood)--> list --(last page)------------------+
 *
 * A stream is a watch that sends the state first; lists are for servers that do not support it. Bound: the existing
 * objects, and as many again while a new state is gathered.
 */
import type { ObjectMeta } from "../api.ts";
import { copyMap } from "../copyMap.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { isTooLargeResourceVersion } from "./apiStatus.ts";

/** The part of an object that a reflector reads. */
export interface Reflectable {
  readonly metadata?: ObjectMeta | undefined;
}

/** Objects by `namespace/name`, or by name when cluster-scoped. */
export type ObjectsByKey<T> = ReadonlyMap<string, T>;

/** A request to the server. Without `resourceVersion` it asks for the newest state. */
export type ReflectorRequest =
  | { readonly kind: "stream"; readonly resourceVersion: string | undefined }
  | {
      readonly kind: "list";
      readonly resourceVersion: string | undefined;
      readonly limit: number | undefined;
      readonly continue: string | undefined;
    }
  | { readonly kind: "watch"; readonly resourceVersion: string };

/** An answer to the current request. `page`, `closed` and `failed` end the request. */
export type ReflectorInput<T> =
  | { readonly kind: "page"; readonly items: readonly T[]; readonly version: string; readonly continue: string }
  | { readonly kind: "change"; readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly kind: "bookmark"; readonly version: string; readonly endsInitialEvents: boolean }
  /** The server ended the watch. `isBrief`: within a second; `isEmpty`: without a single event. */
  | { readonly kind: "closed"; readonly isBrief: boolean; readonly isEmpty: boolean }
  | { readonly kind: "failed"; readonly error: KubeletError };

/** The state of a reflector. */
export interface Reflection<T> {
  /** The newest known state; undefined before the first. A new map on every change. */
  readonly objects: ObjectsByKey<T> | undefined;
  /** Why the server cannot be watched now; undefined when it can. */
  readonly problem: KubeletError | undefined;
  /** The request to send when the current one has ended. */
  readonly next: ReflectorRequest;
  /** Whether to wait before that request, with increasing delay. */
  readonly pause: "none" | "backoff";
  /** Resource version of the last received state or event; empty before the first state. */
  readonly version: string;
  /** The server cannot list at `version`: the next request asks for the newest state. */
  readonly isVersionLost: boolean;
  /** Changes of a state that is not complete yet. */
  readonly gathered: Gathered<T> | undefined;
  readonly usesStreams: boolean;
  /** How many whole states the server has sent. */
  readonly states: number;
}

type Change<T> = Extract<ReflectorInput<T>, { readonly kind: "change" }>;

/** A linked list of changes, newest first, so that adding one costs constant time. */
interface Gathered<T> {
  readonly last: Change<T>;
  readonly before: Gathered<T> | undefined;
}

/** Objects per page, as in client-go's pager. */
const PAGE_SIZE = 500;

/** Returns the initial state. `usesStreams`: feature gate WatchListClient. */
export function startReflection<T extends Reflectable>(usesStreams: boolean): Reflection<T> {
  const blank = {
    objects: undefined,
    problem: undefined,
    pause: "none",
    version: "",
    isVersionLost: false,
    gathered: undefined,
    usesStreams,
    states: 0,
  } as const;
  return { ...blank, next: usesStreams ? streamFrom(blank) : listFrom(blank) };
}

/** Returns the state after one more answer. */
export function stepReflection<T extends Reflectable>(
  reflection: Reflection<T>,
  input: ReflectorInput<T>,
): Reflection<T> {
  switch (input.kind) {
    case "page":
      return afterPage(reflection, input);
    case "change":
      return afterChange(reflection, input);
    case "bookmark":
      if (reflection.next.kind !== "stream") return followed(reflection, input.version);
      return input.endsInitialEvents ? complete(reflection, reflection.gathered, input.version) : reflection;
    case "closed":
      return afterEnd(reflection, input);
    case "failed":
      return afterFailure(reflection, input.error);
  }
}

/** Returns the key of an object; undefined for an object without a name. */
function objectKey({ metadata }: Reflectable): string | undefined {
  const { namespace = "", name = "" } = metadata ?? {};
  if (name === "") return undefined;
  return namespace === "" ? name : `${namespace}/${name}`;
}

type Versions = Pick<Reflection<unknown>, "version" | "isVersionLost">;

const knownVersion = ({ version, isVersionLost }: Versions): string | undefined =>
  isVersionLost || version === "" ? undefined : version;

const streamFrom = (versions: Versions): ReflectorRequest => ({
  kind: "stream",
  resourceVersion: knownVersion(versions),
});

/**
 * The first list accepts any cached state of the server. A list at a version is not paged, since the watch cache
 * returns it whole.
 */
function listFrom(versions: Versions): ReflectorRequest {
  const known = knownVersion(versions);
  const resourceVersion = versions.isVersionLost ? undefined : (known ?? "0");
  return { kind: "list", resourceVersion, limit: known === undefined ? PAGE_SIZE : undefined, continue: undefined };
}

/** Starts over with a new state; keeps the known objects until it is complete. */
function startOver<T>(
  reflection: Reflection<T>,
  how: Partial<Pick<Reflection<T>, "pause" | "problem" | "isVersionLost">>,
  request = reflection.usesStreams ? streamFrom : listFrom,
): Reflection<T> {
  const next = { ...reflection, pause: "none" as const, ...how, gathered: undefined };
  return { ...next, next: request(next) };
}

function afterPage<T extends Reflectable>(
  reflection: Reflection<T>,
  page: Extract<ReflectorInput<T>, { readonly kind: "page" }>,
): Reflection<T> {
  let { gathered } = reflection;
  for (const object of page.items) {
    gathered = { last: { kind: "change", type: "ADDED", object }, before: gathered };
  }
  if (page.continue === "") return complete(reflection, gathered, page.version);
  const next = { kind: "list", resourceVersion: undefined, limit: PAGE_SIZE, continue: page.continue } as const;
  return { ...reflection, gathered, next, pause: "none" };
}

function afterChange<T extends Reflectable>(reflection: Reflection<T>, change: Change<T>): Reflection<T> {
  if (reflection.next.kind === "stream") {
    return { ...reflection, gathered: { last: change, before: reflection.gathered } };
  }
  const objects = copyMap(reflection.objects ?? new Map<string, T>());
  apply(objects, change);
  return { ...followed(reflection, change.object.metadata?.resourceVersion ?? ""), objects };
}

function apply<T extends Reflectable>(objects: Map<string, T>, { type, object }: Change<T>): void {
  const key = objectKey(object);
  if (key === undefined) return;
  if (type === "DELETED") objects.delete(key);
  else objects.set(key, object);
}

/** Replaces the state: objects that it does not contain are gone. */
function complete<T extends Reflectable>(
  reflection: Reflection<T>,
  gathered: Gathered<T> | undefined,
  version: string,
): Reflection<T> {
  const changes: Change<T>[] = [];
  for (let each = gathered; each !== undefined; each = each.before) changes.push(each.last);
  const objects = new Map<string, T>();
  for (const change of changes.reverse()) apply(objects, change);
  const states = reflection.states + 1;
  return { ...followed(reflection, version), objects, gathered: undefined, isVersionLost: false, states };
}

/** Records that the watch is alive and has reached `version`; an empty version leaves the known one. */
function followed<T>(reflection: Reflection<T>, version: string): Reflection<T> {
  const reached = version === "" ? reflection.version : version;
  const next = { kind: "watch", resourceVersion: reached } as const;
  return { ...reflection, version: reached, next, pause: "none", problem: undefined };
}

function afterEnd<T>(
  reflection: Reflection<T>,
  { isBrief, isEmpty }: Extract<ReflectorInput<T>, { readonly kind: "closed" }>,
): Reflection<T> {
  if (reflection.next.kind !== "watch") return startOver(reflection, {}, listFrom);
  if (!isBrief) return { ...reflection, pause: "none" };
  if (!isEmpty) return { ...reflection, pause: "backoff" };
  // A server that always does this would never send an event; a list makes progress.
  const problem = kubeletError("Unavailable", "very short watch: the server ended it at once and sent nothing");
  return startOver(reflection, { pause: "backoff", problem });
}

/** The server is unreachable or overloaded: repeating the same request later costs it least. */
const isPassing = ({ code }: KubeletError): boolean => code === "Unavailable" || code === "TooManyRequests";

/**
 * Handles a failed request.
 * Differs from upstream: a list that fails with NotFound is a failure like others. Upstream treats it as an empty list,
 * so a misconfigured proxy would remove all pods of the node.
 */
function afterFailure<T>(reflection: Reflection<T>, error: KubeletError): Reflection<T> {
  const { next } = reflection;
  const isTooNew = isTooLargeResourceVersion(error);
  const isUnusable = isTooNew || error.code === "Expired";
  switch (next.kind) {
    case "list":
      if (isUnusable && next.continue !== undefined) return wholeList(reflection);
      if (isUnusable && next.resourceVersion !== undefined) {
        return startOver(reflection, { isVersionLost: true }, listFrom);
      }
      return startOver(reflection, { pause: "backoff", problem: error });
    case "stream":
      if (isUnusable && next.resourceVersion !== undefined) return startOver(reflection, { isVersionLost: true });
      if (isUnusable || isPassing(error)) return startOver(reflection, { pause: "backoff", problem: error });
      return startOver(reflection, {}, listFrom);
    case "watch":
      if (isTooNew) return startOver(reflection, { pause: "backoff", problem: error, isVersionLost: true });
      if (isPassing(error) || error.code === "DeadlineExceeded") {
        return { ...reflection, pause: "backoff", problem: error };
      }
      return startOver(reflection, { pause: "backoff", problem: error });
  }
}

/** Lists without pages: the pages took longer than the server keeps a version. */
function wholeList<T>(reflection: Reflection<T>): Reflection<T> {
  return startOver(reflection, {}, (versions) => ({ ...listFrom(versions), limit: undefined }) as ReflectorRequest);
}
