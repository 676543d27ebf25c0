import { describe, expect, it } from "vitest";
import { apiError } from "../../../../src/core/api/apiStatus.ts";
import {
  type Reflectable,
  type Reflection,
  type ReflectorInput,
  startReflection,
  stepReflection,
} from "../../../../src/core/api/reflection.ts";
import { type ErrorCode, type KubeletError, kubeletError } from "../../../../src/core/errors.ts";

type Input = ReflectorInput<Reflectable>;

const object = (name: string, version: string): Reflectable => ({
  metadata: { namespace: "demo", name, resourceVersion: version },
});
const page = (version: string, names: string, more = ""): Input => ({
  kind: "page",
  items: [...names].map((name) => object(name, version)),
  version,
  continue: more,
});
const change = (type: "ADDED" | "MODIFIED" | "DELETED", name: string, version: string): Input => ({
  kind: "change",
  type,
  object: object(name, version),
});
const bookmark = (version: string, endsInitialEvents = false): Input => ({
  kind: "bookmark",
  version,
  endsInitialEvents,
});
const closed = (how: { readonly isBrief?: boolean; readonly isEmpty?: boolean } = {}): Input => ({
  kind: "closed",
  isBrief: false,
  isEmpty: false,
  ...how,
});
const failed = (error: ErrorCode | KubeletError): Input => ({
  kind: "failed",
  error: typeof error === "string" ? kubeletError(error, "why") : error,
});
const TOO_NEW = apiError({
  code: 504,
  reason: "Timeout",
  message: "Too large resource version: 9, current: 3",
  details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
});

const after = (inputs: readonly Input[], usesStreams = true): Reflection<Reflectable> =>
  inputs.reduce(stepReflection, startReflection<Reflectable>(usesStreams));

/** Objects, next request, and whether it waits and why: `a@3 b@2 | watch 3 | backoff: Expired`. */
function reported({ objects, next, pause, problem }: Reflection<Reflectable>): string {
  const known = [...(objects ?? [])].map(([key, { metadata }]) => `${key.slice(5)}@${metadata?.resourceVersion}`);
  const parts: readonly (string | number | undefined)[] =
    next.kind === "list" ? [next.resourceVersion ?? "newest", next.limit, next.continue] : [next.resourceVersion];
  const request = [next.kind, ...parts.filter((part) => part !== undefined)].join(" ");
  const wait = pause === "none" ? [] : [`${pause}: ${problem?.code ?? "no problem"}`];
  return [objects === undefined ? "unknown" : known.join(" "), request, ...wait].join(" | ");
}

const FOLLOWING: readonly Input[] = [change("ADDED", "a", "2"), bookmark("3", true)];

describe("reflection: the first state", () => {
  it.each<[string, readonly Input[], string]>([
    ["is streamed, the newest there is", [], "unknown | stream"],
    ["is not published before its end", [change("ADDED", "a", "2")], "unknown | stream"],
    ["ends with its bookmark, and the stream continues as a watch", FOLLOWING, "a@2 | watch 3"],
    ["is not ended by another bookmark", [change("ADDED", "a", "2"), bookmark("3")], "unknown | stream"],
    [
      "is streamed again, later, from a server that is away",
      [failed("Unavailable")],
      "unknown | stream | backoff: Unavailable",
    ],
    ["is listed by a server that knows no streams", [failed("InvalidArgument")], "unknown | list 0 500"],
    ["is listed when the stream was too slow", [failed("DeadlineExceeded")], "unknown | list 0 500"],
    [
      "is listed when the stream ended before it was whole",
      [change("ADDED", "a", "2"), closed()],
      "unknown | list 0 500",
    ],
    [
      "is only what came after the start was made over",
      [change("ADDED", "a", "2"), closed(), page("5", "b")],
      "b@5 | watch 5",
    ],
  ])("%s", (_rule, inputs, expected) => expect(reported(after(inputs))).toBe(expected));
});

describe("reflection: lists", () => {
  it.each<[string, readonly Input[], string]>([
    ["begin with what the server has at hand, page by page", [], "unknown | list 0 500"],
    ["go on where the page ended", [page("2", "a", "more")], "unknown | list newest 500 more"],
    ["are published with the last page", [page("2", "a", "more"), page("2", "b")], "a@2 b@2 | watch 2"],
    ["restart without paging when a page has expired", [page("2", "a", "more"), failed("Expired")], "unknown | list 0"],
    [
      "are whole at a version, as the watch cache gives them",
      [page("2", "a"), failed("Expired")],
      "a@2 | list 2 | backoff: Expired",
    ],
    [
      "take the newest state at once when their version has expired",
      [page("2", "a"), failed("Expired"), failed("Expired")],
      "a@2 | list newest 500",
    ],
    [
      "take the newest state at once when their version is too new",
      [page("2", "a"), failed("Expired"), failed(TOO_NEW)],
      "a@2 | list newest 500",
    ],
    [
      "wait when even the newest state has expired",
      [page("2", "a"), failed("Expired"), failed("Expired"), failed("Expired")],
      "a@2 | list newest 500 | backoff: Expired",
    ],
    [
      "believe versions again after they succeeded",
      [page("2", "a"), failed("Expired"), failed("Expired"), page("7", "b"), failed("Expired")],
      "b@7 | list 7 | backoff: Expired",
    ],
    [
      "keep what is known when they fail, whatever the reason",
      [page("2", "a"), failed("Expired"), failed("NotFound")],
      "a@2 | list 2 | backoff: NotFound",
    ],
    ["drop removed objects", [page("2", "ab"), failed("Expired"), page("5", "bc")], "b@5 c@5 | watch 5"],
  ])("%s", (_rule, inputs, expected) => expect(reported(after(inputs, false))).toBe(expected));
});

describe("reflection: the watch", () => {
  it.each<[string, readonly Input[], string]>([
    ["adds", [change("ADDED", "b", "4")], "a@2 b@4 | watch 4"],
    ["replaces", [change("MODIFIED", "a", "4")], "a@4 | watch 4"],
    ["removes", [change("DELETED", "a", "4")], " | watch 4"],
    [
      "takes a successor of the same name for what it is",
      [change("DELETED", "a", "4"), change("ADDED", "a", "5")],
      "a@5 | watch 5",
    ],
    ["moves on with bookmarks", [bookmark("8")], "a@2 | watch 8"],
    ["ignores what has no name", [{ kind: "change", type: "ADDED", object: {} }], "a@2 | watch 3"],
    ["is resumed at once when the server ends it", [bookmark("8"), closed()], "a@2 | watch 8"],
    [
      "is resumed later when it was brief",
      [bookmark("8"), closed({ isBrief: true })],
      "a@2 | watch 8 | backoff: no problem",
    ],
    [
      "starts over when it was brief and empty",
      [closed({ isBrief: true, isEmpty: true })],
      "a@2 | stream 3 | backoff: Unavailable",
    ],
    [
      "is resumed later when the connection broke",
      [change("ADDED", "b", "4"), failed("Unavailable")],
      "a@2 b@4 | watch 4 | backoff: Unavailable",
    ],
    ["is resumed later when it fell silent", [failed("DeadlineExceeded")], "a@2 | watch 3 | backoff: DeadlineExceeded"],
    [
      "is resumed later when the server is busy",
      [failed("TooManyRequests")],
      "a@2 | watch 3 | backoff: TooManyRequests",
    ],
    ["starts over when its version has expired", [failed("Expired")], "a@2 | stream 3 | backoff: Expired"],
    [
      "starts over with the newest state when its version is too new",
      [failed(TOO_NEW)],
      "a@2 | stream | backoff: DeadlineExceeded",
    ],
    ["starts over after any other refusal", [failed("PermissionDenied")], "a@2 | stream 3 | backoff: PermissionDenied"],
    [
      "takes the newest state when the stream's version has expired as well",
      [failed("Expired"), failed("Expired")],
      "a@2 | stream",
    ],
    [
      "forgets the problem with the first line",
      [failed("Unavailable"), bookmark("9"), closed({ isBrief: true })],
      "a@2 | watch 9 | backoff: no problem",
    ],
  ])("%s", (_rule, inputs, expected) => expect(reported(after([...FOLLOWING, ...inputs]))).toBe(expected));

  it("returns a new map for a change, and the same for a bookmark", () => {
    const before = after(FOLLOWING);
    const [marked, changed] = [bookmark("4"), change("ADDED", "b", "4")].map((input) => stepReflection(before, input));
    expect([marked?.objects === before.objects, changed?.objects === before.objects]).toEqual([true, false]);
    expect([...(before.objects ?? new Map()).keys()]).toEqual(["demo/a"]);
  });
});
