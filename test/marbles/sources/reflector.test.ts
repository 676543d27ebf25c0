import { map, NEVER, type Observable, of, throwError } from "rxjs";
import { describe, expect, it } from "vitest";
import { kubeletError } from "../../../src/core/errors.ts";
import { InvariantError } from "../../../src/core/invariant.ts";
import type { ApiServer, ApiWatchEvent } from "../../../src/ports/apiServer.ts";
import type { ApiObjects } from "../../../src/core/api/apiResources.ts";
import { type Reflected, reflect } from "../../../src/sources/reflector.ts";
import { fixedRng } from "../../support/fixedRng.ts";
import { type Marbles, marbles } from "../../support/marbles.ts";

type Pod = ApiObjects["pods"];
type Line = ApiWatchEvent<Pod>;

const pod = (name: string, resourceVersion: string): Pod => ({
  metadata: { name, namespace: "demo", resourceVersion },
});
/** Lines by their letter in diagrams. */
const LINES: Readonly<Record<string, Line>> = {
  a: { type: "ADDED", object: pod("a", "1") },
  b: { type: "ADDED", object: pod("b", "2") },
  m: { type: "MODIFIED", object: pod("a", "3") },
  d: { type: "DELETED", object: pod("a", "4") },
  n: { type: "BOOKMARK", object: { metadata: { resourceVersion: "9" } } },
  e: {
    type: "BOOKMARK",
    object: { metadata: { resourceVersion: "2", annotations: { "k8s.io/initial-events-end": "true" } } },
  },
  x: { type: "ERROR", object: { code: 410, reason: "Expired", message: "too old resource version" } },
};
const BROKEN = kubeletError("Unavailable", "connection lost");
const shown = ({ objects, problem }: Reflected<Pod>): string => {
  const known = [...(objects?.values() ?? [])].map(({ metadata }) => `${metadata?.name}${metadata?.resourceVersion}`);
  return `${objects === undefined ? "unknown" : known.join(" ")}${problem === undefined ? "" : ` !${problem.code}`}`;
};

interface Script {
  /** Diagrams of the watches in their order, the last one for ever; an error is a broken connection. */
  readonly watches: readonly string[];
  readonly lists?: readonly Observable<readonly Pod[]>[];
  readonly random?: number;
  readonly usesStreams?: boolean;
  /** When the server is found to be there again. */
  readonly returns?: string;
}

/** Runs a reflector against scripted answers; `requests` tells what it asked, and when. */
function reflecting({ cold, hot, clock }: Marbles, script: Script) {
  const silence = "-";

  const { watches, lists = [], random = 0, usesStreams = true, returns } = script;
  const requests: string[] = [];
  let watched = 0;
  let listed = 0;
  const note = (text: string, options: object): void => {
    requests.push(`${clock.monotonicMs()} ${text} ${JSON.stringify(options)}`);
  };
  const api = {
    watch: (_resource: string, { fieldSelector: _selector, ...options }: { readonly fieldSelector?: string }) => {
      note("watch", options);
      watched += 1;
      return cold(watches[watched - 1] ?? watches.at(-1) ?? silence, LINES, BROKEN);
    },
    list: (_resource: string, { fieldSelector: _selector, ...options }: { readonly fieldSelector?: string }) => {
      note("list", options);
      listed += 1;
      const answer$ = lists[listed - 1] ?? lists.at(-1) ?? NEVER;
      return answer$.pipe(map((items) => ({ metadata: { resourceVersion: "2" }, items })));
    },
  } as unknown as ApiServer;
  const reflected$ = reflect({
    api,
    resource: "pods",
    selection: { fieldSelector: "spec.nodeName=n" },
    clock,
    rng: fixedRng(random),
    usesStreams,
    ...(returns === undefined ? {} : { returns$: hot(returns) }),
  }).pipe(map(shown));
  return { reflected$, requests };
}

const STREAM = '{"allowWatchBookmarks":true,"timeoutSeconds":300,"sendInitialEvents":true}';
const watchAt = (version: string, timeoutSeconds = 300): string =>
  JSON.stringify({ resourceVersion: version, allowWatchBookmarks: true, timeoutSeconds });
const streamAt = (version: string): string =>
  JSON.stringify({ resourceVersion: version, allowWatchBookmarks: true, timeoutSeconds: 300, sendInitialEvents: true });

interface Rule extends Script {
  readonly unsub: string;
  readonly expected: string;
  readonly values: Readonly<Record<string, string>>;
  readonly requests: readonly string[];
}

/** The emissions and requests of a reflector under a script. */
const rule = ({ unsub, expected, values, requests, ...script }: Rule): (() => void) =>
  marbles((helpers) => {
    const run = reflecting(helpers, script);
    helpers.expectObservable(run.reflected$, unsub).toBe(expected, values);
    helpers.flush();
    expect(run.requests).toEqual(requests);
  });

describe("reflect: the state and its changes", () => {
  it(
    "emits the streamed state at its end, and every later change, over one request",
    rule({
      watches: ["a-be-m-d-n--"],
      unsub: "   - 11ms !",
      expected: "---x-y-z----",
      values: { x: "a1 b2", y: "a3 b2", z: "b2" },
      requests: [`0 watch ${STREAM}`],
    }),
  );
  it(
    "lists and watches from the list's version where streams are off",
    rule({
      lists: [of([pod("a", "1")])],
      usesStreams: false,
      watches: ["--m-"],
      unsub: "   - 4ms !",
      expected: "x-y",
      values: { x: "a1", y: "a3" },
      requests: ['0 list {"resourceVersion":"0","limit":500}', `0 watch ${watchAt("2")}`],
    }),
  );
  it(
    "falls back to a list when the server has not streamed the whole state within a minute",
    rule({
      lists: [of([pod("a", "1")])],
      watches: ["a--", "--m-"],
      unsub: "   - 60003ms !",
      expected: "60s x-y",
      values: { x: "a1", y: "a3" },
      requests: [`0 watch ${STREAM}`, '60000 list {"resourceVersion":"0","limit":500}', `60000 watch ${watchAt("2")}`],
    }),
  );
});

describe("reflect: the end of a watch", () => {
  it(
    "resumes at the last version seen, at once, when the server ended it",
    rule({
      watches: ["ae 2s n-|", "--d-"],
      unsub: "   - 2006ms !",
      expected: "-x 2004ms y",
      values: { x: "a1", y: "" },
      requests: [`0 watch ${STREAM}`, `2004 watch ${watchAt("9")}`],
    }),
  );
  it(
    "requests random timeouts of five to ten minutes, and ends a watch that the server does not end",
    rule({
      random: 0.5,
      watches: [`e${" 100s n".repeat(10)}`],
      unsub: "   - 480001ms !",
      expected: "x",
      values: { x: "" },
      requests: [`0 watch ${STREAM.replace("300", "450")}`, `480000 watch ${watchAt("9", 450)}`],
    }),
  );
  it(
    "treats a watch without event or bookmark as broken after 150 s, and reports it",
    rule({
      watches: ["ae", "--m-"],
      unsub: "   - 150805ms !",
      expected: "-x 149999ms y 801ms z",
      values: { x: "a1", y: "a1 !DeadlineExceeded", z: "a3" },
      requests: [`0 watch ${STREAM}`, `150801 watch ${watchAt("2")}`],
    }),
  );
  it(
    "lists again when its version has expired, and drops deleted objects",
    rule({
      watches: ["abe--x", "be-"],
      unsub: "   - 810ms !",
      expected: "--x--y 800ms z",
      values: { x: "a1 b2", y: "a1 b2 !Expired", z: "b2" },
      requests: [`0 watch ${STREAM}`, `805 watch ${streamAt("2")}`],
    }),
  );
});

describe("reflect: a server in trouble", () => {
  it(
    "waits 0.8, 1.6, 3.2 ... at most 30 s between attempts, and reports the first problem once",
    rule({
      watches: ["#"],
      unsub: "   - 80s !",
      expected: "x",
      values: { x: "unknown !Unavailable" },
      requests: [
        `0 watch ${STREAM}`,
        ...[800, 2_400, 5_600, 12_000, 24_800, 50_400].map((atMs) => `${atMs} watch ${STREAM}`),
      ],
    }),
  );
  it(
    "waits a second at most once the server is found to be there again",
    rule({
      random: 0.25,
      watches: ["#", "#", "#", "e"],
      returns: " 5s r",
      unsub: "   - 6s !",
      expected: "x 5249ms y",
      values: { x: "unknown !Unavailable", y: "" },
      requests: [0, 1_000, 3_000, 5_250].map((atMs) => `${atMs} watch ${STREAM.replace("300", "375")}`),
    }),
  );
  it(
    "waits up to twice as long, by chance",
    rule({
      random: 0.5,
      watches: ["#"],
      unsub: "   - 3s !",
      expected: "x",
      values: { x: "unknown !Unavailable" },
      requests: [`0 watch ${STREAM.replace("300", "450")}`, `1200 watch ${STREAM.replace("300", "450")}`],
    }),
  );
  it(
    "begins with the shortest pause again after two minutes without one",
    rule({
      watches: ["#", "#", "e 60s n 60s n 60s #", "n"],
      unsub: "   - 183204ms !",
      expected: "x 2399ms y 180002ms z 799ms w",
      values: { x: "unknown !Unavailable", y: "", z: " !Unavailable", w: "" },
      requests: [`0 watch ${STREAM}`, `800 watch ${STREAM}`, `2400 watch ${STREAM}`, `183203 watch ${watchAt("9")}`],
    }),
  );
  it(
    "waits as long as the server requests",
    marbles((helpers) => {
      const unsub = "   - 68s !";
      const expected = "x 6999ms y 59999ms z";

      const busy = { ...BROKEN, code: "TooManyRequests", retryAfterMs: 7_000 } as const;
      const lists = [throwError(() => busy), throwError(() => ({ ...busy, retryAfterMs: 60_000 })), of([])];
      const run = reflecting(helpers, { watches: ["--"], lists, usesStreams: false });
      helpers
        .expectObservable(run.reflected$, unsub)
        .toBe(expected, { x: "unknown !TooManyRequests", y: "unknown !TooManyRequests", z: "" });
      helpers.flush();
      expect(run.requests.map((request) => request.split(" ")[0])).toEqual(["0", "7000", "67000", "67000"]);
    }),
  );
  it(
    "keeps the last state while the server is away, and forgets the problem with the first line",
    rule({
      watches: ["ae-#", "#", "--n-"],
      unsub: "   - 2410ms !",
      expected: "-x-y 2401ms z",
      values: { x: "a1", y: "a1 !Unavailable", z: "a1" },
      requests: [`0 watch ${STREAM}`, `803 watch ${watchAt("2")}`, `2403 watch ${watchAt("2")}`],
    }),
  );
  it(
    "passes on a broken invariant, and nothing else",
    marbles((helpers) => {
      const expected = "#";

      const bug = new InvariantError("a bug");
      const run = reflecting(helpers, { watches: [], lists: [throwError(() => bug)], usesStreams: false });
      helpers.expectObservable(run.reflected$).toBe(expected, {}, bug);
    }),
  );
});
