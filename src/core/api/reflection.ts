/**
 * What a reflector knows of one resource, and what it asks next: a pure state machine over the answers of list and
 * watch. Counterpart: ListAndWatch of client-go's Reflector.
 *
 *     stream --(initial events end)--------------------------> watch --(closed)--> watch
 *       |  ^                                                    |  ^
 *       |  +------------(Expired, too new, refused)-------------+  |
 *       +--(not understood)--> list --(last page)------------------+
 *
 * A stream is a watch that sends the state first; lists are for servers that cannot. Bound: the objects there are, and
 * while a new state is gathered as many again.
 */
import type { ObjectMeta } from "../api.ts";
import { type KubeletError, kubeletError } from "../errors.ts";
import { isTooLargeResourceVersion } from "./apiStatus.ts";

/** An object as far as a reflector looks into it. */
export interface Reflectable {
  readonly metadata?: ObjectMeta | undefined;
}

/** Objects by `namespace/name`, or name. */
export type ObjectsByKey<T> = ReadonlyMap<string, T>;

/** A request to the server. Without `resourceVersion` the newest state is meant. */
export type ReflectorRequest =
  | { readonly kind: "stream"; readonly resourceVersion: string | undefined }
  | {
      readonly kind: "list";
      readonly resourceVersion: string | undefined;
      readonly limit: number | undefined;
      readonly continue: string | undefined;
    }
  | { readonly kind: "watch"; readonly resourceVersion: string };

/** One answer to the request under way. `closed` and `failed` are its end, and so is a page. */
export type ReflectorInput<T> =
  | { readonly kind: "page"; readonly items: readonly T[]; readonly version: string; readonly continue: string }
  | { readonly kind: "change"; readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T }
  | { readonly kind: "bookmark"; readonly version: string; readonly endsInitialEvents: boolean }
  /** The server ended the watch. `isBrief`: within a second; `isEmpty`: without a single line. */
  | { readonly kind: "closed"; readonly isBrief: boolean; readonly isEmpty: boolean }
  | { readonly kind: "failed"; readonly error: KubeletError };

/** The state of a reflector. */
export interface Reflection<T> {
  /** The newest state known; undefined before the first. A new map whenever something in it changed. */
  readonly objects: ObjectsByKey<T> | undefined;
  /** Why the server cannot be followed at the moment. */
  readonly problem: KubeletError | undefined;
  /** What to ask when the request under way has ended. */
  readonly next: ReflectorRequest;
  /** Whether to wait before that, longer each time. */
  readonly pause: "none" | "backoff";
  /** Of the last thing seen; empty before the first state. */
  readonly version: string;
  /** The server cannot list at `version`: the newest state has to be asked for. */
  readonly isVersionLost: boolean;
  /** What came of a state that is not complete yet. */
  readonly gathered: Gathered<T> | undefined;
  readonly usesStreams: boolean;
}

type Change<T> = Extract<ReflectorInput<T>, { readonly kind: "change" }>;

/** Changes, the last one first: adding one costs the same however many there are. */
interface Gathered<T> {
  readonly last: Change<T>;
  readonly before: Gathered<T> | undefined;
}

/** Objects per page, as client-go's pager asks for. */
const PAGE_SIZE = 500;

/** Knows nothing yet. `usesStreams`: feature gate WatchListClient. */
export function startReflection<T extends Reflectable>(usesStreams: boolean): Reflection<T> {
  const blank = {
    objects: undefined,
    problem: undefined,
    pause: "none",
    version: "",
    isVersionLost: false,
    gathered: undefined,
    usesStreams,
  } as const;
  return { ...blank, next: usesStreams ? streamFrom(blank) : listFrom(blank) };
}

/** The state after one more answer. */
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

/** The key of an object; undefined for something that has no name. */
export function objectKey({ metadata }: Reflectable): string | undefined {
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

/** The first list takes what the server has at hand. A list at a version comes whole, as the watch cache gives it. */
function listFrom(versions: Versions): ReflectorRequest {
  const known = knownVersion(versions);
  const resourceVersion = versions.isVersionLost ? undefined : (known ?? "0");
  return { kind: "list", resourceVersion, limit: known === undefined ? PAGE_SIZE : undefined, continue: undefined };
}

/** Starts over with a new state, keeping what is known until it is there. */
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
  const objects = new Map(reflection.objects);
  apply(objects, change);
  return { ...followed(reflection, change.object.metadata?.resourceVersion ?? ""), objects };
}

function apply<T extends Reflectable>(objects: Map<string, T>, { type, object }: Change<T>): void {
  const key = objectKey(object);
  if (key === undefined) return;
  if (type === "DELETED") objects.delete(key);
  else objects.set(key, object);
}

/** A whole new state: what is not in it has gone. */
function complete<T extends Reflectable>(
  reflection: Reflection<T>,
  gathered: Gathered<T> | undefined,
  version: string,
): Reflection<T> {
  const changes: Change<T>[] = [];
  for (let each = gathered; each !== undefined; each = each.before) changes.push(each.last);
  const objects = new Map<string, T>();
  for (const change of changes.reverse()) apply(objects, change);
  return { ...followed(reflection, version), objects, gathered: undefined, isVersionLost: false };
}

/** The watch is alive, and has come to `version`; something that does not say its version leaves it. */
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
  // A server that always does this would never tell anything: a list makes progress.
  const problem = kubeletError("Unavailable", "very short watch: the server ended it at once and sent nothing");
  return startOver(reflection, { pause: "backoff", problem });
}

/** The server is away or busy: asking the same again, later, costs it least. */
const isPassing = ({ code }: KubeletError): boolean => code === "Unavailable" || code === "TooManyRequests";

/**
 * Differs from upstream: a list answered with NotFound is a failure like others. Upstream takes it for an empty one, and
 * a proxy in trouble would have every pod of the node removed.
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

/** The pages were too slow for the server's memory: everything in one. */
function wholeList<T>(reflection: Reflection<T>): Reflection<T> {
  return startOver(reflection, {}, (versions) => ({ ...listFrom(versions), limit: undefined }) as ReflectorRequest);
}
